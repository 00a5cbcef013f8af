"""Notifications: recipients, texts, and their delivery by mail or command."""
