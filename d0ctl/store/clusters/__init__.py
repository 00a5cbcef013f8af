"""Clusters: how full their caches are, what lies there and whose they are."""
