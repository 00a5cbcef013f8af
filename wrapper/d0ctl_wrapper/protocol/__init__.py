"""What control host and nodes exchange: messages, launches, frames, checksums, paths."""
