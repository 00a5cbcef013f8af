"""Packages and files that are moved after packages were placed."""
