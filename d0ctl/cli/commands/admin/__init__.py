"""Commands that administer a home."""
