"""Queues of other systems in the site file."""
