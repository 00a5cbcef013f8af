"""From a job file to a `JobSpec`: all that is known of an experiment ends here."""
