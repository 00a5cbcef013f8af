"""The built-in catalogues: rows of a csv file or an SQLite database."""

import csv
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from d0ctl.errors import D0Error

MOST_S = 20.0
"""The time that a selection may take."""

_STEPS = 10_000
"""After how many steps of SQLite's virtual machine the time is checked."""

_ALLOWED = (
    sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE,
)  # fmt: skip
_CLAUSES = ("where", "order", "limit")

Rows = Iterator[dict[str, str]]


class BadSelection(D0Error):
    """A file that can't be read, or a condition that SQLite does not understand."""


def of_csv(path: Path, condition: str) -> Rows:
    """Yield the rows of a csv file that a condition selects, e.g. `energy > 10 order by run`.

    Values that are numbers are compared as numbers. Raises BadSelection.
    """
    header, rows = _csv(path)
    columns = ", ".join(_name(column) for column in header)
    marks = ", ".join("?" * len(header))
    if condition and condition.split()[0].lower() not in _CLAUSES:
        condition = f"where {condition}"
    with closing(sqlite3.connect(":memory:")) as database:
        try:
            database.execute(f"create table rows (d0ctl_row integer primary key, {columns})")
            numbers = ([at, *map(_number, row)] for at, row in enumerate(rows))
            database.executemany(f"insert into rows values (?, {marks})", numbers)
            for (at,) in _ask(database, f"select d0ctl_row from rows {condition}"):
                yield dict(zip(header, rows[at], strict=True))
        except (sqlite3.Error, sqlite3.Warning) as error:
            raise BadSelection(f"`{condition}`: {error}") from error


def of_sqlite(path: Path, query: str) -> Rows:
    """Yield the rows of a query on an SQLite database, which it can't change.

    Raises BadSelection.
    """
    if not path.is_file():
        raise BadSelection(f"there is no file `{path.name}` in `{path.parent}`")
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            rows = _ask(database, query)
            columns = [column[0] for column in rows.description or ()]
            if len(set(columns)) < len(columns):
                raise BadSelection(f"`{query}`: two columns have the same name")
            for row in rows:
                values = ("" if value is None else str(value) for value in row)
                yield dict(zip(columns, values, strict=True))
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise BadSelection(f"`{query}`: {error}") from error


def _ask(database: sqlite3.Connection, query: str) -> sqlite3.Cursor:
    """Start a query that may only read, and only for a limited time."""
    until = time.monotonic() + MOST_S

    def judge(action: int, *_: object) -> int:
        return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY

    database.set_authorizer(judge)
    database.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
    return database.execute(query)


def _csv(path: Path) -> tuple[Sequence[str], list[list[str]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            header, *rows = [row for row in csv.reader(file, strict=True) if row] or [[]]
    except FileNotFoundError as error:
        raise BadSelection(f"there is no file `{path.name}` in `{path.parent}`") from error
    except (OSError, ValueError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise BadSelection(f"`{path.name}` can't be read: {reason}") from error
    header = [column.strip() for column in header]
    if not header or len({column.lower() for column in header}) < len(header):
        raise BadSelection(f"`{path.name}` needs a header of different columns")
    for number, row in enumerate(rows, 1):
        if len(row) != len(header):
            counts = f"{len(row)} values, but the header has {len(header)}"
            raise BadSelection(f"`{path.name}`: row {number} has {counts}")
    return header, rows


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _number(value: str) -> str | int | float:
    for kind in (int, float):
        try:
            return kind(value) if value.isascii() and len(value) < 16 else value
        except ValueError:
            pass
    return value


BUILT_IN = {"csv": of_csv, "sqlite": of_sqlite}
"""The catalogues by name."""
