"""All SQL: numbered migrations, and queries that each have a name and a sentence."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

_HEAD = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


def migrations() -> dict[str, str]:
    """Name and text of each migration, in the order in which they are applied."""
    return dict(_texts("migrations"))


def queries() -> dict[str, str]:
    """Every query by its name. Raises ValueError when two share one."""
    found: dict[str, str] = {}
    for _, text in _texts("queries"):
        pieces = _HEAD.split(text)[1:]
        for name, query in zip(pieces[::2], pieces[1::2], strict=True):
            if name in found:
                raise ValueError(f"two queries are named {name}")
            found[name] = query.strip()
    return found


def _texts(folder: str) -> Iterator[tuple[str, str]]:
    """Yield name and text of each SQL file in a folder of this package, in order.

    importlib.resources would cost each command 9 ms for its imports.
    """
    for path in sorted(Path(__file__).with_name(folder).glob("*.sql")):
        yield path.stem, path.read_text()


def schema() -> dict[str, str]:
    """The definition of each table, index, view and trigger, such as `table job`."""
    with closing(sqlite3.connect(":memory:")) as connection:
        for text in migrations().values():
            connection.executescript(text)
        rows = connection.execute(
            "select type || ' ' || name, sql from sqlite_master where name not like 'sqlite_%'"
        )
        return dict(rows.fetchall())
