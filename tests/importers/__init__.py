"""Workflows of other programs as job files."""
