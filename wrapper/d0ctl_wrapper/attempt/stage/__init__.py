"""Stage-in: the working directory, inputs and software of an attempt."""
