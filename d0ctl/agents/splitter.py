"""The splitter: puts files, or ranges of their events, into packages by the rules of a task."""

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Protocol, TypeVar

from msgspec.structs import replace

from d0ctl.store.connection import Store
from d0ctl.store.tasks import event_ranges, generation
from d0ctl.store.tasks.event_ranges import Content
from d0ctl.store.tasks.generation import Group
from d0ctl.store.tasks.state import Task
from d0ctl.taskfile.spec import Rules

MOST_FILES = 200
"""How many files a package has at most if their sizes or events decide."""


MOST_ROWS = 20_000
"""How many files are read for a batch of packages at most."""

C = TypeVar("C", bound=Content)


class Check(Protocol):
    """Returns those of some files that are there."""

    def __call__(self, rows: list[C], /) -> list[C]: ...


def groups(
    store: Store, task: Task, most: int, largest: int, present: Check, *, is_growing: bool
) -> list[Group]:
    """Return at most so many packages: ranges that failed, the rest of files, and other files."""
    rules = sized(task)
    events = rules.events_per_package
    made: list[Group] = []
    if events is not None:
        made = [Group((row,), row.first, row.last - row.first + 1, is_range=True)
                 for row in present(event_ranges.again(store, task.id, most))]  # fmt: skip
        for row in present(event_ranges.begun(store, task.id, most - len(made))):
            made += islice(ranges_of(row, events, row.next_event), most - len(made))
    if len(made) == most:
        return made
    rows = generation.pickable(store, task, min(most * largest + 1, MOST_ROWS))
    rest = split(present(rows), rules, largest, is_growing=is_growing)
    return [*made, *islice(rest, most - len(made))]


def sized(task: Task) -> Rules:
    """Return the rules of a task, with as many events per package as its scouts have found."""
    events = task.measured.get("events")
    return replace(task.rules, events_per_package=events) if events else task.rules


def largest(task: Task) -> int:
    """Return how many files a package may have at most, by its rules and its scouts."""
    rules = task.rules
    wanted = task.measured.get("files") or rules.files_per_package
    asked = [limit for limit in (wanted, rules.max_files_per_package) if limit]
    if asked:
        return min(asked)
    return 1 if not (rules.bytes_per_package or rules.events_per_package) else MOST_FILES


def split(
    rows: Sequence[Content], rules: Rules, largest: int, *, is_growing: bool = False
) -> Iterator[Group]:
    """Put files into packages of at most `largest` files, in their order; a file that failed comes
    into a smaller one, and one with more events than a package takes into several. While there will
    be more files, the last package waits until it is full.
    """
    if largest == 1 and not (rules.bytes_per_package or rules.events_per_package):
        yield from (Group((row,), int(bool(row.events)), row.events or 0) for row in rows)
        return
    group: list[Content] = []
    size = events = 0
    most_bytes = rules.bytes_per_package or math.inf
    most_events = rules.events_per_package or math.inf
    for row in rows:
        is_large = (row.events or 0) > most_events
        limit = max(1, largest >> min(row.attempts, 20))
        is_full = (
            len(group) >= limit
            or size + (row.size or 0) > most_bytes
            or events + (row.events or 0) > most_events
            or (group and group[0].attempts != row.attempts)
        )
        if group and is_full:
            yield _group(group, events)
            group, size, events = [], 0, 0
        if is_large:
            assert rules.events_per_package is not None
            yield from ranges_of(row, rules.events_per_package, 1)
            continue
        group.append(row)
        size += row.size or 0
        events += row.events or 0
    is_full = group and len(group) >= max(1, largest >> min(group[0].attempts, 20))
    if group and (is_full or not is_growing):
        yield _group(group, events)


def ranges_of(row: Content, events: int, first: int) -> Iterator[Group]:
    """Cut the events of a file from `first` on into ranges."""
    end = (row.events or 0) + 1
    for begin in range(first, end, events):
        yield Group((row,), begin, min(events, end - begin), is_range=True)


def _group(rows: list[Content], events: int) -> Group:
    return Group(tuple(rows), 1 if events else 0, events)
