"""Actions on researchers."""
