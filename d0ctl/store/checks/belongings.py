"""The database's records of files and attempts; read in pages of limited size."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from d0ctl.store.connection import Row, Store

PAGE = 5_000
"""How many rows, or things that a node reports, are processed at a time."""


def results(store: Store) -> Iterator[Row]:
    """Yield files for results/, with whether a copy is recorded there and whether one is due."""
    folder = f"{store.home.results}/"
    for after, upto in _file_pages(store):
        yield from store.rows("results_page", after=after, upto=upto, results=folder)


def copies(store: Store, node: int | None) -> Iterator[Row]:
    """Yield the copies of a node, or else those of the control host, as they were recorded."""
    for after, upto in _file_pages(store):
        yield from store.rows("copies_page", after=after, upto=upto, node=node)


def attempts(store: Store, ids: Sequence[int]) -> dict[int, Row]:
    """Return the records of these attempts, by their ids."""
    found: dict[int, Row] = {}
    for start in range(0, len(ids), PAGE):
        rows = store.rows("known_attempts", ids=json.dumps(ids[start : start + PAGE]))
        found |= {row["id"]: row for row in rows}
    return found


def wanted(store: Store, node: Row, copies: Sequence[dict[str, Any]]) -> set[str]:
    """Return the paths, of the files that a node reports, that may be there."""
    found: set[str] = set()
    for start in range(0, len(copies), PAGE):
        page = json.dumps(copies[start : start + PAGE])
        rows = store.rows("known_copies", copies=page, node=node["id"], cluster=node["cluster_id"])
        found |= {row["path"] for row in rows}
    return found


def _file_pages(store: Store) -> Iterator[tuple[int, int]]:
    after = 0
    while True:
        page = store.row("file_page", after=after, size=PAGE)
        if page is None or not page["n"]:
            return
        yield after, page["upto"]
        after = page["upto"]
