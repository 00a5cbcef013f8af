"""The rehearsal of a job that is not submitted."""
