"""The package wrapper: stages files, runs and watches the chain of binaries, reports."""
