"""Placeholders, field types, scripts and file names of a job file."""
