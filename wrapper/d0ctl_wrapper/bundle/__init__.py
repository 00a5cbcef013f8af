"""The bundle: all modules that the job of an attempt imports, made once for each python."""
