"""Tasks for display."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from d0ctl.errors import NotFound
from d0ctl.store.connection import Row, Store, as_json
from d0ctl.store.rows import make
from d0ctl.store.tasks import state
from d0ctl.store.views import browse
from d0ctl.store.views.shapes import JobSummary


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


class TaskJob(JobSummary, frozen=True, kw_only=True):
    """The job of a task."""

    task: TaskSummary


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
    return _summaries(store, store.rows("tasks", pattern=pattern))


def of_jobs(store: Store, jobs: Iterable[int]) -> dict[int, TaskSummary]:
    """Return the tasks of jobs, by the ids of the jobs."""
    rows = store.rows("tasks_of_jobs", jobs=as_json(list(jobs)))
    return {one.job_id: one for one in _summaries(store, rows)}


def with_tasks(store: Store, jobs: Mapping[int, JobSummary]) -> dict[int, TaskJob]:
    """Return those jobs that are of tasks, with their tasks."""
    return {id: TaskJob(**asdict(jobs[id]), task=one)
            for id, one in of_jobs(store, jobs).items()}  # fmt: skip


def _summaries(store: Store, rows: Sequence[Row]) -> list[TaskSummary]:
    files: dict[int, dict[str, int]] = {}
    wanted = as_json([row["id"] for row in rows])
    for row in store.rows("input_counts_of_tasks", tasks=wanted) if rows else []:
        files.setdefault(row["task_id"], {})[row["status"]] = row["n"]
    return [make(TaskSummary, row, files=files.get(row["id"], {})) for row in rows]


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
