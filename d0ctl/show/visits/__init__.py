"""Visits to the folders of attempts on their nodes, and what their logs say."""
