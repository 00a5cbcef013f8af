"""Output, logs, progress and completion on a terminal."""
