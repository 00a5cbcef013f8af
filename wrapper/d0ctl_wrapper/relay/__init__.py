"""The relay: serves one control host on a node, starts wrappers and forwards their messages."""
