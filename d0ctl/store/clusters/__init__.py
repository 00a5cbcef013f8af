"""Clusters: how full their caches are, their contents and their owners."""
