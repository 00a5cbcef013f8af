"""Files of input datasets: what a look at the source adds, changes and takes away."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from d0ctl.jobfile.collector import without_collector
from d0ctl.jobfile.sections.loop_sources import RangeValues
from d0ctl.store.connection import Store
from d0ctl.store.tasks import content_follower, event_ranges, state
from d0ctl.store.tasks.state import Dataset
from d0ctl.taskfile.sources import Found

CHUNK = 20_000
"""How many files are written in one transaction."""

Change = tuple[str, int | None, int | None, str | None, int]
"""The new status of a file, its size, its events, what tells it from others, and its number."""


@without_collector()
def feed(
    store: Store, dataset: int, files: Sequence[Found] | RangeValues, check: Callable[[], bool]
) -> tuple[int, int]:
    """Write the difference between a dataset and what there is now, by short transactions.

    Return how many files are new, and how many have changed or gone. It stops if `check`, asked in
    each transaction, is false. After an interruption the next call writes the rest.
    """
    known = {row["name"]: row for row in store.rows("known_contents", dataset=dataset)}
    first = int(store.value("last_content", dataset=dataset)) + 1
    new = _new(dataset, files, known, first)
    query = "insert_number" if isinstance(files, RangeValues) else "insert_content"
    added = 0
    while batch := list(islice(new, CHUNK)):
        with store.writing():
            if not check():
                return added, 0
            store.change_many(query, batch)
        added += len(batch)
    changes = list(_changes(files, known))
    for at in range(0, len(changes), CHUNK):
        with store.writing():
            if not check():
                return added, at
            store.change_many("change_content", changes[at : at + CHUNK])
    return added, len(changes)


def _new(
    dataset: int, files: Sequence[Found] | RangeValues, known: dict[str, Any], first: int
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of files that are not known yet, numbered from `first`."""
    if isinstance(files, RangeValues):
        fresh = (value for value in files if value not in known)
        for seq, value in enumerate(fresh, first):
            yield dataset, 0, seq, value, "ready"
        return
    others = (file for file in files if file.name not in known)
    for seq, file in enumerate(others, first):
        yield dataset, 0, seq, file.name, file.size, file.events, file.checksum, "ready"


def _changes(files: Sequence[Found] | RangeValues, known: dict[str, Any]) -> Iterator[Change]:
    """Yield the changes of known files: gone, back, or replaced by others of the same name."""
    if isinstance(files, RangeValues):
        gone = known.keys() - set(files)
    else:
        for file in files:
            row = known.get(file.name)
            if row is None:
                continue
            status = _status_now(file, row)
            if status is not None:
                yield status, file.size, file.events, file.checksum, row["id"]
        gone = known.keys() - {file.name for file in files}
    for name in sorted(gone):
        row = known[name]
        if row["status"] in ("ready", "missing", "failed", "partial"):
            yield "lost", row["size"], row["events"], row["checksum"], row["id"]


def _status_now(file: Found, row: Any) -> str | None:
    """Return the status of a file that is there; None if nothing about it has changed."""
    old = (row["size"], row["events"], row["checksum"])
    is_same = old == (file.size, file.events, file.checksum)
    status: str = row["status"]
    if status in ("lost", "missing", "broken"):
        return "ready"
    if is_same or status in ("picked", "running"):  # its package reads one of them, or fails
        return None
    return "ready"


def mark(store: Store, contents: Sequence[int], status: str) -> None:
    """Give files that no package processes a status, in a transaction."""
    store.change_many("mark_contents", ((status, content) for content in contents))


def looked_up(store: Store, dataset: int, *, now: float) -> None:
    """A dataset was looked up; in a transaction."""
    store.change("looked_up", dataset=dataset, now=now)


def look_failed(store: Store, dataset: int, until: float) -> None:
    """A dataset can't be looked up before a time; in a transaction."""
    store.change("look_failed", dataset=dataset, next=until)


def try_again(store: Store, task: int, *, now: float) -> None:
    """failed, partial -> ready, each with all its attempts; in a transaction.

    Packages that have failed with them are dropped, so that no file is processed twice.
    """
    store.empty("needed")
    store.change("choose_given_up", task=task)
    event_ranges.try_again(store, task)
    store.change("try_contents_again", task=task)
    store.change("choose_given_up_merges", task=task)
    store.change("try_merges_again")
    content_follower.drop_repackaged(store, now=now)
    for row in state.datasets(store, task):
        if row.type == "input" and row.status == "done":
            state.move_dataset(store, row.id, "ready", now=now)


def look_again(store: Store, task: int, *, now: float, name: str = "") -> None:
    """Let the feeder look up input datasets of a task again, or only one; in a transaction."""
    for row in state.datasets(store, task):
        if row.output or name not in ("", row.name):
            continue
        store.change("ask_for_look", dataset=row.id)
        if row.status in ("ready", "done", "pending", "broken"):
            state.move_dataset(store, row.id, "toupdate", now=now)


def look_once_more(store: Store, looked: Dataset, *, now: float) -> None:
    """After a look that began with this row: another, if one was asked for since; in a transaction.

    A file that has arrived meanwhile may be one that the look did not see any more.
    """
    for row in state.datasets(store, looked.task_id):
        if row.id == looked.id and row.asked != looked.asked:
            look_again(store, looked.task_id, now=now, name=looked.name)


def is_waiting(store: Store, task: int) -> bool:
    """Return whether an input dataset is still to be looked up."""
    return any(row.status in ("toupdate", "pending") for row in state.datasets(store, task)
               if not row.output)  # fmt: skip
