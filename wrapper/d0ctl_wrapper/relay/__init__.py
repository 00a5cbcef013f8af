"""The relay: serves one control host on a node, starts wrappers, forwards their messages."""
