"""What a node is given to launch an attempt."""
