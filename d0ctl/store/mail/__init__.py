"""Notifications: what happened, and what is to be sent."""
