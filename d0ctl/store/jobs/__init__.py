"""Submit, change and remove jobs."""
