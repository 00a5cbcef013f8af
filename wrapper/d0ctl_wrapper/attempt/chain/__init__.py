"""Run the chain of binaries, and resume in the middle of one."""
