"""The people of a site in its file, and their shares of it."""
