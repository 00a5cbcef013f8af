"""Decide what follows a failure; pure."""
