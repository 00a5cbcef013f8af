"""Actions on files."""
