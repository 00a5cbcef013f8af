"""Reads of the database for job files, and for their names."""
