"""The site at earlier moments."""
