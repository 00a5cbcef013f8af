"""The agents of tasks: each takes a locked task, changes it by short transactions, and lets it go.

An agent is a function `act(store, task, clock)` that returns whether it has changed anything. It
keeps nothing in memory and never talks to others: the database tells it everything.
"""
