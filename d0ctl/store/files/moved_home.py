"""A home that was moved, or restored elsewhere: its copies have other paths now."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from d0ctl.config import Home
from d0ctl.store.connection import Store


def previous_home(store: Store) -> Path | None:
    """Return the folder from which a home was moved that nobody has driven since; else None."""
    home = store.value("last_home")
    if home is None or Path(home).resolve() == store.home.root.resolve():
        return None
    return Path(home)


def follow(store: Store) -> None:
    """Record the path of the home, and copies in it by their paths now if that has changed.

    The path is compared as it is written, since a home may be named by a symbolic link.
    """
    if store.value("last_home") != str(store.home.root):
        with store.writing():
            record(store)


def record(store: Store) -> None:
    """Record the path of the home, within a transaction or in a database of no one else."""
    before, now = store.value("last_home"), str(store.home.root)
    if before:
        for query in ("move_copies", "move_purges"):
            store.change(query, previous=f"{before}/", present=f"{now}/")
    store.change("record_home", home=now)


@contextmanager
def reading(database: Path) -> Iterator[Store]:
    """Read a database as it is, without an upgrade."""
    uri = f"{database.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        yield Store(Home(database.parent), connection)
