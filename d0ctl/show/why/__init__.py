"""Explain a state: the answer first, then the facts, then what to type."""
