"""Actions on whole jobs."""
