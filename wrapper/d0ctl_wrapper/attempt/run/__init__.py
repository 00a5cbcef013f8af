"""Start and control processes."""
