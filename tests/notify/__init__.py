"""Notifications: recipients, texts and delivery."""
