"""Ranges of events: parts of a file that packages of their own process."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from d0ctl.store.connection import Selection, Store
from d0ctl.store.rows import make_all


class Content(Struct, frozen=True, gc=False):
    """A file of a dataset that packages are made of."""

    id: int
    dataset_id: int
    name: str
    size: int | None
    events: int | None
    checksum: str | None
    attempts: int
    """How many packages were made of it."""


class ReadyRange(Content, frozen=True, gc=False):
    """A file, and a range of its events that is free again."""

    first: int
    last: int


class SplitContent(Content, frozen=True, gc=False):
    """A file, and the first of its events that is in no range yet."""

    next_event: int


def again(store: Store, task: int, limit: int) -> list[ReadyRange]:
    """Return the next ranges that other packages did not process, with their files."""
    return make_all(ReadyRange, store.rows("ranges_again", task=task, limit=limit))


def begun(store: Store, task: int, limit: int) -> list[SplitContent]:
    """Return the next files of which some ranges were made, and others follow."""
    return make_all(SplitContent, store.rows("split_contents", task=task, limit=limit))


def send(store: Store, sent: Sequence[tuple[Content, int, int, int]]) -> bool:
    """Let packages that were just made take ranges; return whether all were free, in a transaction.

    Each is a file, the first and the last event, and the package.
    """
    if not sent:
        return True
    store.change_many("send_range", [
        (file.id, file.dataset_id, first, last, package)
        for file, first, last, package in sent
    ])  # fmt: skip
    packages = {"first": sent[0][3], "last": sent[-1][3]}
    if store.value("count_sent", **packages) != len(sent):
        return False
    ends = {file.id: last + 1 for file, _, last, _ in sent}
    store.change_many("keep_split", [(event, file) for file, event in ends.items()])
    store.change("pick_split", **packages)
    return True


def follow(selected: Selection) -> bool:
    """Give the ranges of selected packages the status that follows from their phase.

    Return whether there are any; in a transaction.
    """
    selected.empty("split_content")
    if not selected.change("choose_split"):
        return False
    selected.change("lose_ranges")
    selected.change("corrupt_ranges")
    selected.change("free_ranges")
    selected.change("send_ranges")
    selected.change("start_ranges")
    selected.change("process_ranges")
    selected.change("end_ranges")
    selected.change("fail_ranges")
    selected.change("cancel_ranges")
    selected.change("give_up_ranges")
    return True


def follow_files(store: Store) -> None:
    """Give the files of ranges that have moved the status that follows; in a transaction."""
    store.change("free_split_contents")
    store.change("pick_split_contents")
    store.change("start_split_contents")
    store.change("end_split_contents")
    store.empty("split_content")


def try_again(store: Store, task: int) -> None:
    """fatal -> ready: a user retries a task; their packages are selected. In a transaction."""
    store.empty("split_content")
    store.change("choose_split_again", task=task)
    store.change("choose_given_up_ranges")
    store.change("try_ranges_again")
    store.empty("split_content")


def counts(store: Store, task: int) -> Mapping[int, dict[str, int]]:
    """Return how many ranges of each dataset of a task have each status."""
    found: dict[int, dict[str, Any]] = {}
    for row in store.rows("range_counts", task=task):
        found.setdefault(row["id"], {})[row["status"]] = row["n"]
    return found


def packages_of(store: Store, dataset: int, events: int) -> int:
    """Return how many packages the files of a dataset make that have more events than that."""
    return int(store.value("packages_of_events", dataset=dataset, events=events))
