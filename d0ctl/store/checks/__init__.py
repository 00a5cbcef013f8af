"""Whether the database keeps its own rules."""
