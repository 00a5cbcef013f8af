"""Commands about nodes, their software, and files."""
