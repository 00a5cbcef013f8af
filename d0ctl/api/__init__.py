"""The Python interface: build a job, submit it, follow it and act on it."""
