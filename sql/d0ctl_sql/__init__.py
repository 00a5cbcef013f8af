"""All SQL: numbered migrations, and queries that each have a name and a sentence."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

_HEAD = "\n-- name: "


def migrations() -> dict[str, str]:
    """Name and text of each migration, in the order in which they are applied."""
    return dict(_texts("migrations"))


def queries() -> dict[str, str]:
    """Return every query by its name. Raises ValueError when two share one."""
    found: dict[str, str] = {}
    for _, text in _texts("queries"):
        for piece in f"\n{text}".split(_HEAD)[1:]:  # a pattern takes 4 ms of each command
            name, _, query = piece.partition("\n")
            if name in found:
                raise ValueError(f"two queries are named {name}")
            found[name] = query.strip()
    return found


def _texts(folder: str) -> Iterator[tuple[str, str]]:
    """Yield name and text of each SQL file in a folder of this package, in order.

    importlib.resources would cost each command 9 ms for its imports.
    """
    for path in sorted(Path(__file__).with_name(folder).iterdir()):
        if path.suffix == ".sql":
            yield path.stem, path.read_text()


def schema() -> dict[str, str]:
    """Return the definition of each table, index, view and trigger, such as `table job`."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for text in migrations().values():
            connection.executescript(text)
        rows = connection.execute(
            "select type || ' ' || name, sql from sqlite_master where name not like 'sqlite_%'"
        )
        return dict(rows.fetchall())
