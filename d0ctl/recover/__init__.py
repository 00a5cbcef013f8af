"""Pure: what a failure leads to."""
