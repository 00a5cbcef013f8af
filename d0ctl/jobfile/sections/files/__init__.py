"""The keys for the files that binaries read and make."""
