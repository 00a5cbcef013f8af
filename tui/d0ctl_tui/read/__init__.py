"""What is read, when, and what is kept of it."""
