"""The language of control host and nodes: messages, launches, frames, checksums, paths."""
