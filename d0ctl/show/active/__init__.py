"""Pages about all active jobs together."""
