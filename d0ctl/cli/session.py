"""What every command needs: the home, its store, the user, and the time."""

import getpass
import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypeVar

from d0ctl.config import Home, find_home
from d0ctl.errors import BadUsage, NotFound
from d0ctl.store import opening
from d0ctl.store.connection import Store
from d0ctl.store.opening import no_home

T = TypeVar("T")


class Settings:
    """The global options of this call."""

    def __init__(self) -> None:
        self.home: Path | None = None
        self.archive = ""
        self.debug = False
        self.typed: tuple[str, ...] = ()


settings = Settings()
"""Set by the root of the command line, read by its commands."""


def home() -> Home:
    """Return the requested home. Raises NotFound if the requested archive does not exist."""
    found = find_home(settings.home)
    if not settings.archive:
        return found
    if not found.archive_file(settings.archive).is_file():
        raise NotFound(f"there is no archive `{settings.archive}`", hint="d0ctl archives")
    return Home(found.root, found.is_chosen, settings.archive)


def refuse_archive(verb: str) -> None:
    """Raise BadUsage if an archive is to be read and the command needs the database."""
    if settings.archive:
        raise BadUsage(f"`{verb}` works on the database, not on an archive",
                       hint=f"d0ctl {verb}")  # fmt: skip


def has_home() -> bool:
    """Return whether there is a home to read.

    Raises DatabaseUnavailable if the home that `--home` or $D0CTL_HOME names is missing.
    """
    asked = home()
    if asked.exists():
        return True
    if asked.is_chosen:
        raise no_home(asked)
    return False


def in_home(error: OSError) -> bool:
    """Return whether an operation failed on a file of the home."""
    name = error.filename
    return isinstance(name, str | Path) and Path(name).is_relative_to(home().root)


def reader() -> AbstractContextManager[Store]:
    """Return the store for a verb that only reads. Raises DatabaseUnavailable without a home."""
    return opening.reader(home())


def read_all(read: Callable[[Store], Sequence[T]]) -> Sequence[T]:
    """Return what is read from the store at one moment; nothing if there is no home."""
    if not has_home():
        return ()
    with reader() as store, store.reading():
        return read(store)


def writer() -> AbstractContextManager[Store]:
    """Return the store for a verb that changes something that exists."""
    return opening.writer(home())


def open_or_create() -> AbstractContextManager[Store]:
    """Return the store for a verb that may be the first: it creates home and `localhost`."""
    return opening.open_or_create(home())


def actor() -> str:
    """Return the name of the account that runs the command."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())
