"""Batch systems: their commands and answers, and the threads that call them."""
