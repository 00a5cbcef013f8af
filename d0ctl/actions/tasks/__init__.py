"""Actions on tasks."""
