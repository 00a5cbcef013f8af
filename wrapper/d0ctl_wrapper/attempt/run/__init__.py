"""Start, suspend and end processes, and read their progress."""
