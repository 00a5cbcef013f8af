"""Damaged pages of a database file: found by SQLite's own check, within a time limit."""

import logging
import sqlite3
import time

from d0ctl.errors import DatabaseUnavailable
from d0ctl.store.connection import Store

log = logging.getLogger(__name__)

STEPS = 100_000
"""How many steps of SQLite are made between two reads of the clock; some milliseconds."""

RESTORE = "d0ctl restore FILE, of the last `d0ctl backup`; `d0ctl doctor` lists the damage"


def damage(connection: sqlite3.Connection) -> str | None:
    """Return the first damaged page or row; None if the database is whole."""
    try:
        problem = str(connection.execute("pragma quick_check(1)").fetchone()[0])
    except sqlite3.OperationalError:  # not the file: it is busy, or the check was interrupted
        raise
    except sqlite3.DatabaseError as error:
        return str(error)
    return None if problem == "ok" else " ".join(problem.split())


def refuse_damage(store: Store, limit_s: float) -> None:
    """Raise DatabaseUnavailable if a damaged page is found within `limit_s` seconds.

    A million packages take 2 s; `d0ctl doctor` makes the whole check.
    """
    deadline = time.monotonic() + limit_s
    store.connection.set_progress_handler(lambda: time.monotonic() > deadline, STEPS)
    try:
        fault = damage(store.connection)
    except sqlite3.OperationalError as error:
        if "interrupted" not in str(error):
            raise
        log.info("the database was not checked to its end within %g s", limit_s)
        return
    finally:
        store.connection.set_progress_handler(None, 0)
    if fault:
        raise DatabaseUnavailable(
            f"the database `{store.home.database}` is damaged: {fault}", hint=RESTORE
        )
