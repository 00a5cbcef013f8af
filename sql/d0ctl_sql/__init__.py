"""All SQL: numbered migrations, and queries that each have a name and a sentence."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path

_HEAD = "\n-- name: "

ROWS = 50
"""How many rows a statement inserts: one statement each takes up to three times as long."""


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


@cache
def of_many_rows(query: str) -> str | None:
    """Return an insertion of one row as one of `ROWS`; None for another query."""
    row = re.search(r"\bvalues (\((?:\?(?!\d)|coalesce\(\?, \d\)|, )+\));?\Z", query)
    return None if row is None else query[: row.start(1)] + ", ".join([row[1]] * ROWS)


@cache
def of_first_columns(query: str, width: int) -> str:
    """Return an insertion that sets only the first columns."""
    head, columns, values = re.split(r"\(|\)\s*values \(", query, maxsplit=2)
    first, placeholders = (",".join(text.split(",")[:width]) for text in (columns, values))
    return f"{head}({first}) values ({placeholders});"
