"""The only code that touches SQLite."""

from d0ctl.store.connection import Store, open_store

__all__ = ["Store", "open_store"]
