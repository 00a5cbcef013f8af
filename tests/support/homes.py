"""Homes as a first use makes them, and what shall be true of their databases at all times."""

import shutil
import tempfile
from functools import cache
from pathlib import Path

from d0ctl.config import Home
from d0ctl.store import Store, open_store
from d0ctl.store.connection import read_queries
from d0ctl.store.nodes import add_localhost

CHECKS = tuple(sorted(name for name in read_queries() if name.startswith("check_")))
"""The queries that say what is wrong with a database."""


@cache
def template() -> bytes:
    """The database of a fresh home."""
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder, "home"))
        with open_store(home, create=True) as store:
            add_localhost(store)
            store.connection.execute("pragma wal_checkpoint(truncate)")
        return home.database.read_bytes()


def make_home(root: Path) -> Home:
    """A home whose database is a copy of a fresh one; its name on nodes is its own."""
    home = Home(root)
    home.create()
    home.database.write_bytes(template())
    home.database.chmod(0o600)
    return home


def forget_home(home: Home) -> None:
    """Remove a home that no process uses."""
    shutil.rmtree(home.root)


def faults(store: Store) -> dict[str, list[tuple[object, ...]]]:
    """What the checks find wrong, by their names."""
    found = {name: [tuple(row) for row in store.rows(name)] for name in CHECKS}
    if found["check_integrity"] == [("ok",)]:
        del found["check_integrity"]
    return {name: rows for name, rows in found.items() if rows}
