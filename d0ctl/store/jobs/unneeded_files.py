"""Copies of files that no job needs any more, and their removal.

D0 Job Definition, section 2: a file is removed after its last reader, unless a disposition says
otherwise; of several the one that keeps longest wins. Files in results/ are never touched.
"""

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from d0ctl.config import ASIDE
from d0ctl.policy.remarks import Remark
from d0ctl.store.attempts import failures
from d0ctl.store.connection import FileSelection, Row, Store

STRAY_S = 3600.0
"""The age at which an unrecorded file in the cache of the control host counts as abandoned."""

MOST_SPARE = 1000
"""How many files are considered, at most, to make space on a node."""


class Cause(NamedTuple):
    """Why copies are removed: an action or space, and the node where it was needed.

    Without either, no package needs them.
    """

    why: str | None = None
    node: int | None = None


class RemovableCopy(NamedTuple):
    """A copy that could be removed, with the run time in seconds of making it again."""

    file: int
    cluster: int
    name: str
    size: int
    is_elsewhere: int
    is_outside: int
    run_s: float


def clean_up(store: Store, *, now: float) -> list[str]:
    """Have copies removed that became unneeded since the last time.

    Returns the paths of those on the control host, to be removed once this has committed.
    """
    if not store.row("some_cleanup_candidate"):
        return []
    _find(store)
    store.change("spare_copies")
    passed = _leave_where_made(store)
    store.change("forget_kept")
    return passed + _remove(store, Cause(), now)


def _leave_where_made(store: Store) -> list[str]:
    """Keep one copy of files that stay: copies elsewhere were only in transit."""
    store.empty("transit_copy")
    if not store.change("find_transit", cache=f"{store.home.cache}/"):
        return []
    store.change("purge_transit")
    here = [row["path"] for row in store.rows("transit_here")]
    store.change("forget_transit")
    return here


def only_copies(selected: FileSelection, disposition: str | None) -> tuple[int, int]:
    """Count the selected files, and their bytes, that would be removed without another copy if a
    person gave them a disposition; None is that of the job file.
    """
    store = selected.store
    store.empty("planned_file")
    selected.change("plan_selected_files")
    store.empty("unneeded")
    store.change("find_unneeded", planned=1, disposition=disposition)
    store.change("keep_unread")
    row = store.row("only_unneeded_copies")
    assert row is not None
    return row["files"], int(row["bytes"])


def purge(selected: FileSelection, *, now: float) -> list[str]:
    """Have all copies of the selected files removed, at the request of a person.

    Returns the paths of those on the control host, to be removed once this has committed.
    """
    selected.empty("unneeded")
    selected.change("need_no_selected_files")
    return _remove(selected.store, Cause("file purge"), now)


def make_space(store: Store, node: int, wanted: int, *, now: float) -> list[str]:
    """Have copies removed that are kept only while there is space, until `wanted` bytes are free.

    The oldest are removed first, outputs of failed packages last. Returns the removed files: the
    paths of copies, on whatever node of the cluster, and the names of attempts.
    """
    clean_up(store, now=now)
    copies, freed = [], 0
    for row in store.rows("spare_of_node", node=node, limit=MOST_SPARE):
        if freed >= wanted:
            break
        copies.append(row)
        freed += row["size"]
    store.change_many("spend", ((row["file_id"],) for row in copies))
    _find(store)
    store.change("give_up_spare")
    store.change("forget_kept")
    going = {row["file_id"] for row in store.rows("unneeded_files")}
    _remove(store, Cause("space", node), now)
    gone = [row["path"] for row in copies if row["file_id"] in going]
    left = []
    for row in store.rows("left_to_expire", before=now, node=node, limit=MOST_SPARE):
        if freed >= wanted:
            break
        left.append(row)
        freed += row["left_size"]
    _drop_left(store, left, Remark.KEPT_OUTPUTS_REMOVED, now)
    return [*gone, *(f"attempt {row['id']}" for row in left)]


def spare_bytes(store: Store, node: int) -> int:
    """Return how many bytes of copies a node has that are kept only while there is space."""
    return sum(row["size"] for row in store.rows("spare_of_node", node=node, limit=MOST_SPARE))


def copies_to_remove(store: Store, node: int, wanted: int) -> list[RemovableCopy]:
    """Return the copies to remove for so many bytes on a node, the cheapest to restore first."""
    copies, freed = [], 0
    for row in store.rows("room_of_node", node=node):
        if freed >= wanted:
            break
        copies.append(RemovableCopy._make(row))
        freed += row["size"]
    return copies


def give_up(store: Store, node: int, copies: Iterable[RemovableCopy], *, now: float) -> None:
    """Have these copies removed for space on a node, at the request of a person.

    Their files are made or copied again when they are read.
    """
    store.empty("transit_copy")
    store.change_many("give_up_copy", ((copy.file, copy.cluster) for copy in copies))
    store.change("purge_given_up")
    store.change("forget_given_up")
    store.empty("unneeded")
    store.change("lack_given_up")
    _end(store, Cause("node free", node), now)


def sweep(store: Store, node: int, attempts: Sequence[int]) -> None:
    """Have the cache folders of these attempts on a node removed that hold no needed file.

    Those that may hold a lost output stay: an inventory takes that in.
    """
    others = set(attempts) - makers_of_lost(store, attempts)
    store.change("purge_orphans", node=node, attempts=json.dumps(sorted(others)))


def makers_of_lost(store: Store, attempts: Iterable[int]) -> set[int]:
    """Return those of these attempts that made outputs which were lost since."""
    return {row["id"] for row in store.rows("makers_of_lost", attempts=json.dumps([*attempts]))}


def unrecorded_files(store: Store, *, before: float) -> list[str]:
    """List unrecorded files in the cache of the control host that are older than `before`.

    A copy is in the cache for a moment before the database knows it.
    """
    cache, found = str(store.home.cache), []
    for folder, folders, names in os.walk(cache):
        folders[:] = [name for name in folders if name != ASIDE]
        file = Path(folder).name
        for path in (f"{folder}/{name}" for name in names):
            if _is_older(path, before) and not (
                file.isdigit() and store.row("copy_here", file=int(file), path=path)
            ):
                found.append(path)
    return sorted(found)


def _is_older(path: str, before: float) -> bool:
    """Return whether a file has existed since before a time; one that has just vanished has not."""
    try:
        return os.lstat(path).st_mtime < before
    except OSError:
        return False


def expire(store: Store, *, before: float, now: float) -> int:
    """Have outputs removed that failed packages have kept since `before`; how many attempts'."""
    rows = store.rows("left_to_expire", before=before, node=None, limit=MOST_SPARE)
    _drop_left(store, rows, Remark.KEPT_OUTPUTS_EXPIRED, now)
    return len(rows)


def _drop_left(store: Store, rows: Sequence[Row], why: Remark, now: float) -> None:
    """Have the files of attempts removed; their packages need not go to that node any more."""
    for row in rows:
        store.change("purge_expired", attempt=row["id"])
        store.change("forget_expired", attempt=row["id"])
        if row["left_size"]:
            store.change("note_removed_outputs", attempt=row["id"], now=now, note=why)
    bound = [row for row in rows if row["stay"] is not None]
    requirements = failures.free_to_move(store, bound)
    store.change_many("ask_otherwise",
                      ((requirement, row["package_id"])
                       for row, requirement in zip(bound, requirements, strict=True)))  # fmt: skip


def _find(store: Store) -> None:
    """Find which of the candidates are unneeded."""
    store.empty("unneeded")
    store.change("find_unneeded", planned=0, disposition=None)
    store.change("keep_unread")
    store.change("clear_cleanup_candidates")


def _remove(store: Store, cause: Cause, now: float) -> list[str]:
    """Have the copies of unneeded files removed, and forget them."""
    cache = f"{store.home.cache}/"
    store.change("purge_copies")
    here = [row["path"] for row in store.rows("unneeded_here", cache=cache)]
    store.change("forget_unneeded", cache=cache)
    _end(store, cause, now)
    return here


def _end(store: Store, cause: Cause, now: float) -> None:
    """Record that unneeded files are gone whose last copy was removed, and why."""
    store.change("keep_results", results=f"{store.home.results}/", now=now)
    store.change("end_unneeded", why=cause.why, node=cause.node, now=now)


def removals(store: Store, node: int, limit: int) -> list[Row]:
    """Return what a node should remove: folders of attempts and copies of files; limited."""
    return store.rows("purges_of_node", node=node, limit=limit)


def is_being_removed(store: Store, path: str) -> bool:
    """Return whether a path is about to be removed, so that nothing may be copied there yet."""
    return store.row("purge_under_way", path=path) is not None


def removed(store: Store, removals: Iterable[int]) -> None:
    """Record that a node has removed files."""
    store.change_many("purged", ((removal,) for removal in removals))
