"""A job in the formats of other programs."""
