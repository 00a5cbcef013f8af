"""Nodes, sites and software, and which node can run which package."""
