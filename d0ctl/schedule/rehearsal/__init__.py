"""The run of a job on a virtual clock, with the scheduler that also places real packages."""
