"""The examples' scripts, run as a node runs them."""
