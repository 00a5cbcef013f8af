"""Checks of database, home and nodes; they only read, and delay nobody."""
