"""Events: what other systems tell by signed files in the drop-box (docs/events.md)."""
