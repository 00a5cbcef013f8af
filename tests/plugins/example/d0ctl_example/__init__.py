"""Plug-ins for d0ctl, as an example to copy: docs/plugins.md describes each kind."""
