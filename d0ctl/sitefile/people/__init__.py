"""The people of a site in its file, and how much of it each may use."""
