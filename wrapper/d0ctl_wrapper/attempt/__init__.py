"""The package wrapper: stage files, run and watch the chain of binaries, report."""
