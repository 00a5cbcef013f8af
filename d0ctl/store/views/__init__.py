"""Read-only queries for people; each is bounded."""
