"""Rows that a test reads or writes by hand, where the store has no function for it."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from d0ctl.store import Store


def read(
    store: Store, table: str, *columns: str, by: str = "id", **equal: Any
) -> list[tuple[Any, ...]]:
    """Return columns of all rows of a table or view, or of those with these values."""
    found = _run(store, f"select {', '.join(columns)} from {table}", equal, f" order by {by}")
    return [tuple(row) for row in found]


def value(store: Store, table: str, column: str, **equal: Any) -> Any:
    """Return a column of the one row that there is, or that has these values."""
    ((found,),) = read(store, table, column, by=column, **equal)
    return found


def count(store: Store, table: str, **equal: Any) -> int:
    """Return how many rows a table has, or how many have these values."""
    return int(_run(store, f"select count(*) from {table}", equal).fetchone()[0])


def change(store: Store, table: str, equal: dict[str, Any] | None = None, /, **new: Any) -> None:
    """Write columns of all rows of a table, or of those with these values."""
    names = ", ".join(f"{name} = ?" for name in new)
    _run(store, f"update {table} set {names}", equal or {}, "", *new.values())


def insert(store: Store, table: str, **columns: Any) -> None:
    """Add a row to a table."""
    marks = ", ".join("?" * len(columns))
    text = f"insert into {table} ({', '.join(columns)}) values ({marks})"
    store.connection.execute(text, [*columns.values()])


def delete(store: Store, table: str, **equal: Any) -> None:
    """Remove all rows of a table, or those with these values."""
    _run(store, f"delete from {table}", equal)


def pages(store: Store) -> int:
    """Return how many pages the database has."""
    return int(pragma(store, "page_count"))


def pragma(store: Store, name: str) -> Any:
    """Return a setting or figure of the connection."""
    return store.connection.execute(f"pragma {name}").fetchone()[0]


def checkpoint(store: Store) -> None:
    """Move what is in the write-ahead log into the database file."""
    store.connection.execute("pragma wal_checkpoint(truncate)")


def drop(database: Path, what: str) -> None:
    """Remove a part of the schema, as if another version had made the database."""
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(f"drop {what}")


def spoil(database: Path, table: str) -> None:
    """Overwrite the first page of a table or index, as a bad disk does."""
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("pragma wal_checkpoint(truncate)")
        size = connection.execute("pragma page_size").fetchone()[0]
        query = "select rootpage from sqlite_master where name = ?"
        page = connection.execute(query, [table]).fetchone()[0]
    with database.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)


def _run(
    store: Store, text: str, equal: dict[str, Any], order: str = "", *values: Any
) -> sqlite3.Cursor:
    where = " and ".join(f"{name} = ?" for name in equal)
    text += f" where {where}" if where else ""
    return store.connection.execute(text + order, [*values, *equal.values()])
