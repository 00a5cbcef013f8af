"""The store for reading, for changes, and for the first command of all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from d0ctl.config import Home
from d0ctl.store.connection import Store, open_store
from d0ctl.store.sqlite_errors import database_errors


@contextmanager
def reader(home: Home) -> Iterator[Store]:
    """Open the store to read. Raises DatabaseUnavailable if there is no home."""
    with open_store(home, read_only=True) as store, database_errors(store.home):
        store.make_temporary_tables()
        yield store


@contextmanager
def writer(home: Home) -> Iterator[Store]:
    """Open the store to change something. Raises DatabaseUnavailable if there is no home."""
    with open_store(home) as store, database_errors(store.home):
        yield store


@contextmanager
def founder(home: Home) -> Iterator[Store]:
    """Open the store; home and `localhost` are created if there are none."""
    from d0ctl.store.nodes import registry

    with open_store(home, create=True) as store, database_errors(store.home):
        if registry.is_untouched(store):
            registry.add_localhost(store)
        yield store


@contextmanager
def rehearsal(home: Home) -> Iterator[Store]:
    """Open the store for a dry run that may be the very first command: nothing is created."""
    if home.exists():
        with reader(home) as store:
            yield store
        return
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="d0ctl-") as folder:
        with founder(Home(Path(folder, "home"))) as store:
            yield store
