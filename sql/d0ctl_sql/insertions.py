"""Insertions of other shapes, made from those of one whole row."""

import re
from functools import cache

ROWS = 50
"""How many rows a statement inserts: one statement each takes up to three times as long."""


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
