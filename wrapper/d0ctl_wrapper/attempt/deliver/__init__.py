"""Stage-out: find, verify and deliver outputs."""
