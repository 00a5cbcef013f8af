"""Checks of records that came as JSON."""
