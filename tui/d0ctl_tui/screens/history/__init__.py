"""Screens of what happened: attempts over time, two attempts, the logbook."""
