"""The only place that turns SQLite's own failures, met while reading, into ours."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from d0ctl.config import Home
from d0ctl.errors import DatabaseUnavailable


@contextmanager
def told(home: Home) -> Iterator[None]:
    """Raise DatabaseUnavailable for what SQLite refuses within."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        is_broken = "malformed" in str(error) or "not a database" in str(error)
        raise DatabaseUnavailable(
            f"can't use the database `{home.database}`: {error}",
            hint="d0ctl restore FILE, of the last `d0ctl backup`" if is_broken else "d0ctl doctor",
        ) from error
