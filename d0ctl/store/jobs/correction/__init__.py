"""The correction of a job that was submitted, by another job file."""
