"""Actions on nodes."""
