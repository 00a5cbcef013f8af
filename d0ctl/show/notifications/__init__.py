"""What mail and notifications say, and the list of those that wait."""
