"""Actions on packages, lines and jobs by their packages."""
