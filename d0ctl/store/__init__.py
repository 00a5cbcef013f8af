"""The database: SQLite is used here and nowhere else."""

from d0ctl.store.connection import Store
from d0ctl.store.opening import open_store

__all__ = ["Store", "open_store"]
