"""d0ctl: a single-host control tool for productions on machines reached by ssh."""

__version__ = "0.1.0"
