"""One step each: they take work from the store, act on it, and write back.

Agents never talk to each other. Each runs within the one transaction of a turn; what
touches the world outside is put off until that has committed.
"""
