"""Workflows of other programs, read as job files."""
