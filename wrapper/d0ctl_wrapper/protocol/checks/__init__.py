"""Checks of records that arrived as JSON."""
