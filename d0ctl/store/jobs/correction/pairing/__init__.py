"""The lines and packages of a job file beside those of the submitted job."""
