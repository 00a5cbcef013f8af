"""Check that the database keeps its own rules."""
