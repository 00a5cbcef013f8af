"""Homes as a first use makes them, and what shall be true of their databases at all times."""

import shutil
import tempfile
from functools import cache
from pathlib import Path

from d0ctl.config import Home
from d0ctl.store import Store, open_store
from d0ctl.store.checks import check
from d0ctl.store.nodes.registry import add_localhost


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


def faults(store: Store) -> dict[str, list[tuple[str, str]]]:
    """What the rules find wrong with the rows, now and for good, by their names."""
    found: dict[str, list[tuple[str, str]]] = {}
    for one in [*check.rule_faults(store), *check.lasting(store)]:
        found.setdefault(one.check, []).append((one.subject, one.detail))
    return found
