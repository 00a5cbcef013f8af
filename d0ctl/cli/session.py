"""What every command needs: the home, the store in it, who asks, and what time it is."""

import getpass
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from d0ctl.config import Home, find_home
from d0ctl.store.connection import Store, open_store
from d0ctl.store.trouble import told


@dataclass(slots=True)
class Settings:
    """The global options of this call."""

    home: Path | None = None
    debug: bool = False


settings = Settings()
"""Set by the root of the command line, read by its commands."""


def home() -> Home:
    """The home that was asked for."""
    return find_home(settings.home)


@contextmanager
def reader() -> Iterator[Store]:
    """The store for a verb that only reads. Raises DatabaseUnavailable when there is no home."""
    with open_store(home(), read_only=True) as store, told(store.home):
        store.run_script("temporary_tables")
        yield store


@contextmanager
def writer() -> Iterator[Store]:
    """The store for a verb that changes something that is there."""
    with open_store(home()) as store, told(store.home):
        yield store


@contextmanager
def founder() -> Iterator[Store]:
    """The store for a verb that may be the first: home and `localhost` are made if need be."""
    from d0ctl.store.nodes import add_localhost

    with open_store(home(), create=True) as store, told(store.home):
        if store.value("untouched"):
            add_localhost(store)
        yield store


def actor() -> str:
    """Who asks, by the name of the account."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())
