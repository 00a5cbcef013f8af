"""Packages that merge outputs of a task, in the second stage of its job."""

from collections.abc import Sequence

from d0ctl.jobfile.collector import without_collector
from d0ctl.jobfile.spec import JobSpec
from d0ctl.store.connection import Store
from d0ctl.store.rows import make_all
from d0ctl.store.tasks import state
from d0ctl.store.tasks.event_ranges import Content
from d0ctl.store.tasks.generation import Adding, Changed, add_outputs
from d0ctl.store.tasks.state import Dataset, Task

TEMPLATES = ("tmpl_output", "tmpl_log")
"""The types of datasets whose files are merged."""


def counts(store: Store, task: Task) -> dict[str, int]:
    """Return how many files that are merged have each status."""
    found: dict[str, int] = {}
    for kind in TEMPLATES:
        for status, number in state.counts(store, task.id, kind).items():
            found[status] = found.get(status, 0) + number
    return found


def datasets(store: Store, task: Task) -> list[Dataset]:
    """Return the datasets whose files are merged."""
    return [row for row in state.datasets(store, task.id) if row.type in TEMPLATES]


def mergeable(store: Store, dataset: int, limit: int) -> list[Content]:
    """Return the next files of a dataset that are to be merged."""
    return make_all(Content, store.rows("mergeable_contents", dataset=dataset, limit=limit))


def in_merge(store: Store, task: Task, limit: int = 1_000) -> list[int]:
    """Return files that packages are merging, some of them."""
    return [
        row["id"]
        for dataset in datasets(store, task)
        for row in store.rows("merging_contents", dataset=dataset.id, limit=limit)
    ]


def unmerged(store: Store, task: Task) -> int:
    """Return how many processed input files have an output that could not be merged."""
    if not counts(store, task).get("failed"):
        return 0
    return int(store.value("count_unmerged", task=task.id))


def unprocessed(store: Store, task: Task) -> int:
    """Return how many files of a task a retry would process, or merge, again."""
    ready = state.counts(store, task.id)
    left = sum(ready.get(status, 0) for status in ("failed", "partial", "ready"))
    return left + counts(store, task).get("prepared", 0) + unmerged(store, task)


def append(
    store: Store, task: Task, spec: JobSpec, groups: Sequence[Sequence[Content]], *, now: float
) -> int:
    """Add the lines of a job that merge groups of files, in one transaction; return how many.

    None are added if a file was taken away, or the task got another status meanwhile. Raises
    Refused for an output that another package makes.
    """
    assert task.merge_stage_id is not None
    with without_collector():
        adding = Adding(store, task, spec, task.merge_stage_id, task.merges or 0, now)
        try:
            with store.writing():
                if not state.is_mine(store, task.id) or not state.is_unchanged(store, task):
                    raise Changed
                adding.insert()
                _take(store, groups, adding.packages, now)
                add_outputs(store, task, adding.packages, is_merge=True, now=now)
        except Changed:
            return 0
    return len(groups)


def _take(
    store: Store, groups: Sequence[Sequence[Content]], packages: Sequence[int], now: float
) -> None:
    """Let packages that were just made take the files that they merge."""
    first, last = packages[0], packages[-1]
    taken = [
        (package, row.id) for package, group in zip(packages, groups, strict=True) for row in group
    ]
    store.change_many("merge_content", taken)
    if store.value("count_merging", first=first, last=last) != len(taken):
        raise Changed
    store.change("begin_merge_attempts", first=first, last=last, now=now)
