"""Site files, from their text to what a site is, and back."""
