"""A node that attacks its control host, end to end: what it can reach, and what it costs."""
