"""Tasks for display."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from d0ctl.errors import NotFound
from d0ctl.store.connection import Row, Store
from d0ctl.store.rows import make
from d0ctl.store.tasks import state
from d0ctl.store.views import browse


class TaskSummary(Struct, frozen=True):
    """A task in a list; `files` has how many input files have each status."""

    id: int
    job_id: int
    name: str
    title: str
    originator: str
    priority: int
    submitted: float
    status: str
    since: float
    note: str | None
    waits: str | None
    made: int
    ended: float | None
    goal: float | None
    files: Mapping[str, int] = {}


class DatasetView(Struct, frozen=True):
    """A dataset of a task; `files` has how many files have each status."""

    name: str
    type: str
    status: str
    since: float
    note: str | None
    looked: float | None
    source: str | None
    files: Mapping[str, int] = {}


def tasks(store: Store, pattern: str = "*") -> list[TaskSummary]:
    """Return the tasks whose names match, the newest first."""
    return [make(TaskSummary, row, files=state.counts(store, row["id"]))
            for row in store.rows("tasks", pattern=pattern)]  # fmt: skip


def task(store: Store, name: str) -> TaskSummary:
    """Return the task of a name. Raises NotFound, with the nearest name."""
    found = [one for one in tasks(store, name) if one.name == name]
    if found:
        return found[0]
    known = [row["name"] for row in store.rows("tasks", pattern="*")]
    if not known:
        raise NotFound(f"there is no task `{name}`", hint="d0ctl task submit FILE")
    raise NotFound(f"there is no task `{name}`",
                   hint=browse.nearest(name, known) or "d0ctl task list")  # fmt: skip


def datasets(store: Store, number: int) -> list[DatasetView]:
    """Return the datasets of a task."""
    counts: dict[int, dict[str, Any]] = {}
    for row in store.rows("dataset_counts", task=number):
        counts.setdefault(row["id"], {})[row["status"]] = row["n"]
    return [make(DatasetView, row, files=counts.get(row["id"], {}))
            for row in state.datasets(store, number)]  # fmt: skip


def log(store: Store, number: int) -> list[Row]:
    """Return what has happened to a task."""
    return store.rows("task_log", task=number)
