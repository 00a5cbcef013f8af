"""The launch of an attempt, as a node gets it."""
