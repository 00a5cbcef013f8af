"""Tasks for people."""
