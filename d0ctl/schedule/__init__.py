"""Pure: a snapshot of what is ready and what is free in, decisions out."""
