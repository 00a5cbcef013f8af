"""The dashboard: what it draws, how it reads, what its keys do."""
