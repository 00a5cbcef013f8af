"""Validation of a task at its end: each input file is once in its outputs."""

from collections.abc import Iterator
from typing import Any

from d0ctl.store.connection import Store
from d0ctl.store.tasks import merging, state
from d0ctl.store.tasks.state import Dataset, Task

SLICE = 5_000
"""How many files one query checks."""

Fault = tuple[str, dict[str, Any]]
"""The name of the query that has found something, and what it has found."""


def fault(store: Store, task: Task) -> Fault | None:
    """Return the first fault of the outputs of a task; None without any. It only reads."""
    return next(_faults(store, task), None)


def _faults(store: Store, task: Task) -> Iterator[Fault]:
    yield from _found(store, "unmade_output", task=task.id)
    for row in state.datasets(store, task.id):
        for piece in _slices(store, row):
            if row.type == "input":
                yield from _found(store, "unaccounted_input", **piece)
            elif row.type in merging.TEMPLATES:
                yield from _found(store, "unmerged_output", **piece)
            elif row.output:
                for status in ("prepared", "finished"):
                    yield from _found(store, "changed_output", status=status, **piece)
                    if row.merged:
                        yield from _found(store, "mixed_merge", status=status, **piece)


def _found(store: Store, query: str, **parameters: Any) -> Iterator[Fault]:
    row = store.row(query, **parameters)
    if row is not None:
        yield query, dict(row)


def _slices(store: Store, dataset: Dataset) -> Iterator[dict[str, int]]:
    span = store.row("span_of_dataset", dataset=dataset.id)
    assert span is not None
    for after in range((span["first"] or 1) - 1, span["last"] or 0, SLICE):
        yield {"dataset": dataset.id, "after": after, "upto": after + SLICE}


def is_behind(store: Store) -> bool:
    """Return whether packages have changed since files followed them."""
    after = store.value("task_cursor")
    return store.value("end_of_events", after=after, limit=1) is not None


def leave_out_duplicates(store: Store) -> list[tuple[str, int]]:
    """Take the outputs of packages whose files others have processed, too, out of their datasets.

    Return the paths of the packages, and how many outputs each had. In a transaction, after
    `choose_duplicates`.
    """
    found = [(row["path"], row["outputs"]) for row in store.rows("duplicate_paths")]
    store.change("forget_outputs_of_repackaged")
    return found


def choose_duplicates(store: Store, task: Task) -> int:
    """Select packages with files that others have processed, too; return how many."""
    store.empty("needed")
    number = 0
    for row in state.datasets(store, task.id):
        if row.type == "input":
            for piece in _slices(store, row):
                number += store.change("choose_duplicates", **piece)
    return number


def duplicate(store: Store) -> str | None:
    """Return the path of a selected package whose outputs can't be left out; None without any."""
    found: str | None = store.value("first_duplicate")
    return found
