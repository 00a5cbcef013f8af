"""Read the sections of a job file: job, stages, lines, packages, binaries, files."""
