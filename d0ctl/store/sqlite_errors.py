"""Failures of SQLite itself, turned into errors for people."""

import errno
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from d0ctl import access
from d0ctl.config import Home
from d0ctl.errors import DatabaseUnavailable

DAMAGED = ("malformed", "not a database")
OTHER_SCHEMA = ("no such column", "no such index", "no such table", "has no column named")
FORBIDDEN = ("readonly", "unable to open")


@contextmanager
def database_errors(home: Home) -> Iterator[None]:
    """Raise DatabaseUnavailable for errors of SQLite within."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise unavailable(home, error) from error


def unavailable(home: Home, error: sqlite3.Error) -> DatabaseUnavailable:
    """Return what an error of SQLite means for the database of the home, and what to type."""
    reason = str(error)
    if any(word in reason for word in FORBIDDEN) and home.database.exists():
        denied = PermissionError(errno.EACCES, reason, str(home.database))
        return access.unusable(home.root, denied)
    if "is full" in reason or ("disk I/O" in reason and access.is_full(home.root)):
        return access.full(home.root)
    if "no such table: _sqlite_migrations" in reason:
        reason = "it is not d0ctl's"
        hint = "d0ctl restore FILE, of the last `d0ctl backup`"
    elif any(word in reason for word in OTHER_SCHEMA):
        root = shlex.quote(str(home.root))
        return DatabaseUnavailable(
            f"the home `{home.root}` was made by another version of d0ctl: {reason}",
            hint=f"use that version, or begin a new home: mv {root} {root}.old",
        )
    elif any(word in reason for word in DAMAGED):
        hint = "d0ctl restore FILE, of the last `d0ctl backup`"
    else:
        hint = "d0ctl doctor"
    return DatabaseUnavailable(f"can't use the database `{home.database}`: {reason}", hint=hint)
