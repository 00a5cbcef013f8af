"""Reading: what, when, and which results are kept."""
