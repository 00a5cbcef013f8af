"""Files, processes and software of the node."""
