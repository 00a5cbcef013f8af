"""The database's records of files and attempts; read in pages of limited size."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from d0ctl.model import Node
from d0ctl.store.connection import Store
from d0ctl.store.rows import make_all

PAGE = 5_000
"""How many rows, or things that a node reports, are processed at a time."""


class KnownResult(Struct, frozen=True, gc=False):
    """A file for results/, whether a copy is recorded there, since when, and whether one is due."""

    id: int
    job: str
    name: str
    size: int | None
    checksum: str | None
    delivered: float | None
    is_copy: int
    is_due: int


class KnownCopy(Struct, frozen=True, gc=False):
    """A copy of a file as it was recorded, and the path of the package that made it."""

    path: str
    inode: int | None
    mtime: int | None
    size: int | None
    checksum: str | None
    maker: str | None


class KnownAttempt(Struct, frozen=True):
    """The record of an attempt that a node reports."""

    id: int
    outcome: str | None
    node_id: int | None
    is_over: int
    goes: int
    """Whether its folder is to be removed."""


def results(store: Store) -> Iterator[KnownResult]:
    """Yield files for results/, with whether a copy is recorded there and whether one is due."""
    folder = f"{store.home.results}/"
    for after, upto in _file_pages(store):
        rows = store.rows("results_page", after=after, upto=upto, results=folder)
        yield from make_all(KnownResult, rows)


def makers(store: Store, files: Sequence[int]) -> list[str]:
    """Return the paths of the packages that make these files."""
    return [row["path"] for row in store.rows("makers_of_files", files=json.dumps(files))]


def copies(store: Store, node: int | None) -> Iterator[KnownCopy]:
    """Yield the copies of a node, or else those of the control host, as they were recorded."""
    for after, upto in _file_pages(store):
        rows = store.rows("copies_page", after=after, upto=upto, node=node)
        yield from make_all(KnownCopy, rows)


def to_remove(store: Store, node: int) -> set[int]:
    """Return the attempts whose folders a node has yet to remove, also those of removed jobs."""
    return {row["attempt_id"] for row in store.rows("attempts_to_purge", node=node)}


def attempts(store: Store, ids: Sequence[int]) -> dict[int, KnownAttempt]:
    """Return the records of these attempts, by their ids."""
    attempts: dict[int, KnownAttempt] = {}
    for start in range(0, len(ids), PAGE):
        rows = store.rows("known_attempts", ids=json.dumps(ids[start : start + PAGE]))
        attempts |= {attempt.id: attempt for attempt in make_all(KnownAttempt, rows)}
    return attempts


def wanted(store: Store, node: Node, copies: Sequence[dict[str, Any]]) -> set[str]:
    """Return the paths, of the files that a node reports, that may be there."""
    paths: set[str] = set()
    for start in range(0, len(copies), PAGE):
        page = json.dumps(copies[start : start + PAGE])
        rows = store.rows("known_copies", copies=page, node=node.id, cluster=node.cluster_id)
        paths |= {row["path"] for row in rows}
    return paths


def _file_pages(store: Store) -> Iterator[tuple[int, int]]:
    after = 0
    while True:
        page = store.row("file_page", after=after, size=PAGE)
        if page is None or not page["n"]:
            return
        yield after, page["upto"]
        after = page["upto"]
