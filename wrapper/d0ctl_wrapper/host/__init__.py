"""Files, processes and software of the machine the wrapper runs on."""
