"""The only place for SQL: numbered migrations, and queries that each have a name and a sentence."""

import re
import sqlite3
from contextlib import closing
from importlib.resources import files

_HEAD = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


def migrations() -> dict[str, str]:
    """Name and text of each migration, in the order in which they are applied."""
    folder = files(__name__) / "migrations"
    return {
        entry.name.removesuffix(".sql"): entry.read_text()
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".sql")
    }


def queries() -> dict[str, str]:
    """Every query by its name. Raises ValueError when two share one."""
    found: dict[str, str] = {}
    for entry in (files(__name__) / "queries").iterdir():
        if not entry.name.endswith(".sql"):
            continue
        pieces = _HEAD.split(entry.read_text())[1:]
        for name, text in zip(pieces[::2], pieces[1::2], strict=True):
            if name in found:
                raise ValueError(f"two queries are named {name}")
            found[name] = text.strip()
    return found


def schema() -> dict[str, str]:
    """The definition of each table, index, view and trigger, such as `table job`."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for text in migrations().values():
            connection.executescript(text)
        rows = connection.execute(
            "select type || ' ' || name, sql from sqlite_master where name not like 'sqlite_%'"
        )
        return dict(rows.fetchall())
