"""What wraps one attempt: it stages, runs the chain of binaries, watches it, and tells of it."""
