"""The correction of a submitted job by another job file."""
