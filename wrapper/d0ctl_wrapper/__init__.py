"""The code that runs on nodes: relay and package wrapper. Standard library only."""
