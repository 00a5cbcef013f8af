"""Check a job across its packages: files, cycles, names, likely mistakes."""
