"""Copies of files, and where they are."""
