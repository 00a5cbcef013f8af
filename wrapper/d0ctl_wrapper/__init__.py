"""What runs on a node: the relay, and the wrapper of each attempt. Standard library only."""
