"""Which jobs and packages a list shows, and in which order."""
