"""Actions on tokens of the REST interface."""
