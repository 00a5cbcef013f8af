"""The site as it was at an earlier moment."""
