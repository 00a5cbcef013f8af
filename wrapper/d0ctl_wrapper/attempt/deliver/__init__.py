"""Stage-out: find, check and deliver outputs."""
