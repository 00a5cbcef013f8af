"""What is said of a file: its copies, and what it was made from."""
