"""Copies in the caches of nodes that nobody needs any more, and their end."""

from dataclasses import dataclass
from itertools import accumulate

from d0ctl.store import files
from d0ctl.store.connection import Store

LOOK = 500
"""So many copies are looked at in one transaction."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a look at a cache has found: copies to purge, their size, and the last file looked
    at; None when there are no more.
    """

    copies: int
    size: int
    last: int | None


def purge(store: Store, node: int, *, size: int, after: int, now: float) -> Found:
    """Give up copies on a node, among those after a file, until `size` bytes are freed.

    Only what all consumers have read and nobody wants delivered or retained; were it needed
    again all the same, its maker would run once more.
    """
    rows = store.rows("copies_in_cache", node=node, after=after, limit=LOOK)
    idle = [row for row in rows if row["is_idle"]]
    before = accumulate((row["size"] for row in idle), initial=0)
    chosen = [row for row, freed in zip(idle, before, strict=False) if freed < size]
    store.change_many("purge_copy", ((node, row["path"]) for row in chosen))
    if chosen:
        files.lose(store, ((row["file_id"], row["cluster_id"]) for row in chosen), now=now)
    last = rows[-1]["file_id"] if len(rows) == LOOK else None
    return Found(len(chosen), sum(row["size"] for row in chosen), last)
