"""What people look at: every read is bounded, and none writes."""
