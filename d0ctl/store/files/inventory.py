"""The findings of an inventory of a node's cache, compared with the recorded copies."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from d0ctl.store.connection import Store
from d0ctl.store.files import copies
from d0ctl.store.rows import make, make_all

PAGE = 5000
"""How many copies of a node are compared in one turn."""

MOST_UNKNOWN = 1000
"""How many unknown files of a node are remembered."""

MOST_FORGOTTEN = 1000
"""How many old findings are forgotten in one statement."""

MOST_LACKING = 1000
"""How many unknown files may be compared by checksum at a time."""

KEEP_FINDINGS_S = 30 * 86400.0
"""How long it is remembered that a copy vanished or was changed."""


SINCE_BACKUP = "since-backup"
"""The finding about a copy that was missing or changed after a backup was restored."""


class CacheFinding(NamedTuple):
    """A finding at a path, in the order of the columns of `cache_finding`."""

    node: int
    path: str
    finding: str
    file: int | None
    noticed: float


class CopyCandidate(Struct, frozen=True):
    """An unknown file in a cache that may be a copy of a file that has none there."""

    path: str
    file_id: int
    size: int
    checksum: str


class FoundCopy(Struct, frozen=True):
    """A finding about a copy of a file."""

    node: str
    path: str
    finding: str
    noticed: float


class FoundOnNode(Struct, frozen=True):
    """How many findings of a kind a node has, the time of the last, and an example."""

    finding: str
    n: int
    noticed: float
    example: str


class UnknownFile(Struct, frozen=True):
    """A file in the cache of a node that is no copy."""

    node: str
    cluster_id: int
    base: str
    path: str
    noticed: float


class UnknownInput(Struct, frozen=True):
    """An input in the cache of a node that is no copy."""

    path: str
    has_job: int
    may_be_read: int
    """Whether a package that was launched before a restore may read it."""

    @property
    def is_unneeded(self) -> bool:
        """Whether no job has it and no package reads it, as most after a restore."""
        return not (self.has_job or self.may_be_read)


class CachedCopy(Struct, frozen=True, gc=False):
    """A recorded copy in the cache of a node."""

    file_id: int
    cluster_id: int
    path: str
    inode: int | None
    mtime: int | None
    made: float
    size: int | None
    checksum: str | None
    written: float


def page(store: Store, node: int, after: int) -> list[CachedCopy]:
    """Return the next copies in the cache of a node, by file."""
    rows = store.rows("copies_of_node", node=node, after=after, limit=PAGE)
    return make_all(CachedCopy, rows)


def has_copies(store: Store, node: int) -> bool:
    """Return whether copies in the cache of a node are recorded."""
    return store.row("copies_of_node", node=node, after=0, limit=1) is not None


def keep(store: Store, findings: Sequence[CacheFinding]) -> None:
    """Record copies that vanished or were changed."""
    store.change_many("keep_cache_finding", findings)


def end(store: Store, node: int, unknown: Iterable[str], *, now: float) -> None:
    """Record that a whole cache was compared, and which of its files are unknown."""
    store.change("forget_unknown", node=node)
    findings = [CacheFinding(node, path, "unknown", None, now) for path in sorted(unknown)]
    store.change_many("keep_cache_finding", findings[:MOST_UNKNOWN])
    store.change("note_survey", node=node, now=now)


def forget_old(store: Store, *, now: float) -> int:
    """Forget the next slice of old findings; return how many."""
    return store.change("forget_old_findings", before=now - KEEP_FINDINGS_S, limit=MOST_FORGOTTEN)


def lacking(store: Store, cluster: int, entries: Sequence[dict[str, Any]]) -> list[CopyCandidate]:
    """Return the unknown files that may be copies which their cluster lacks."""
    page = json.dumps(list(entries))
    rows = store.rows("lacking_copies", entries=page, cluster=cluster, limit=MOST_LACKING)
    return [make(CopyCandidate, row) for row in rows]


def inputs(
    store: Store, cluster: int, entries: Iterable[dict[str, Any]]
) -> dict[str, UnknownInput]:
    """Describe the inputs among unknown files in a cache, by path."""
    listed = [entry for entry in entries if entry["is_input"]]
    if not listed:
        return {}
    rows = store.rows("unknown_inputs", entries=json.dumps(listed), cluster=cluster)
    return {row["path"]: make(UnknownInput, row) for row in rows}


def remove(store: Store, node: int, paths: Iterable[str]) -> None:
    """Have a node remove inputs from its cache."""
    store.change_many("purge_input", [(node, path) for path in sorted(paths)])


def take_in(store: Store, node: int, arrival: copies.Arrival, *, now: float) -> None:
    """Accept an unknown file as the copy that it is."""
    copies.arrive(store, [arrival], now=now)
    store.change("forget_cache_finding", node=node, path=arrival.path)


def restamp(store: Store, node: int, copy: copies.Arrival, *, before: float) -> None:
    """Record the stamp of a recorded copy that was found to have the contents of its file.

    A copy that was recorded anew since `before` has another one.
    """
    store.change("restamp_copy", file=copy.file, cluster=copy.cluster, path=copy.path,
                 inode=copy.inode, mtime=copy.mtime, before=before)  # fmt: skip
    store.change("forget_cache_finding", node=node, path=copy.path)


def of_file(store: Store, file: int, limit: int) -> list[FoundCopy]:
    """Return the findings about the copies of a file, the latest first."""
    return [make(FoundCopy, row) for row in store.rows("findings_of_file", file=file, limit=limit)]


def of_node(store: Store, node: int, *, since: float) -> list[FoundOnNode]:
    """Return the findings in the cache of a node since a time, by kind."""
    rows = store.rows("findings_of_node", node=node, since=since)
    return [make(FoundOnNode, row) for row in rows]


def unknown(store: Store, limit: int) -> list[UnknownFile]:
    """Return the unknown files that the last inventories found."""
    return [make(UnknownFile, row) for row in store.rows("unknown_in_caches", limit=limit)]
