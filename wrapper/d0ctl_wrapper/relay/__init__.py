"""What serves one control host on a node: it starts wrappers, and passes on what they say."""
