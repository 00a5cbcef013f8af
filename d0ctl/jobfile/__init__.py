"""Read a job file and check it as a whole; the result is a `JobSpec`."""
