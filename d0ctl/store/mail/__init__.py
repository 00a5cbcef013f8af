"""Notifications: events, and messages to send."""
