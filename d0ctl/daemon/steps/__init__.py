"""The steps of a turn: each takes work from the store, does it, and writes back."""
