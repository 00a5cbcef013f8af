"""Chaos of agents: a task whose agents, supervisor and daemon are killed and frozen."""
