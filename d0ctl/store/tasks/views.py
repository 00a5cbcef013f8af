"""Tasks for display."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from d0ctl.errors import NotFound
from d0ctl.store.connection import Row, Store, as_json
from d0ctl.store.rows import make, make_all
from d0ctl.store.tasks import event_ranges, state
from d0ctl.store.views import browse
from d0ctl.store.views.shapes import JobSummary

LAST = 5
"""How many attempts of a file, and how many ranges of its events, are read."""


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
    destination: str | None = None
    """The cluster where its outputs are merged, if d0ctl has chosen one."""
    destination_why: str | None = None
    acknowledged: str | None = None
    """Who has seen that it ended in vain."""
    acknowledged_at: float | None = None
    acknowledged_because: str | None = None
    files: Mapping[str, int] = {}


class TaskJob(JobSummary, frozen=True, kw_only=True):
    """The job of a task."""

    task: TaskSummary


class DatasetView(Struct, frozen=True):
    """A dataset of a task: how many files have each status, and how many ranges of events."""

    name: str
    type: str
    status: str
    since: float
    note: str | None
    looked: float | None
    source: str | None
    files: Mapping[str, int] = {}
    ranges: Mapping[str, int] = {}


class FileView(Struct, frozen=True):
    """A file of a dataset, with its last attempts and those of its ranges that are not done."""

    dataset: str
    name: str
    status: str
    meaning: str
    events: int | None
    rest: int | None
    """The first event that is in no range yet, if it is split and some are not."""
    attempts: Sequence[Row]
    ranges: Mapping[str, int]
    open_ranges: Sequence[Row]


class TaskChange(Struct, frozen=True):
    """A change of the status of a task; without an actor d0ctl made it itself."""

    at: float
    old: str | None
    new: str
    actor: str | None
    note: str | None


def tasks(store: Store, pattern: str = "*") -> list[TaskSummary]:
    """Return the tasks whose names match, the newest first."""
    return _summaries(store, store.rows("tasks", pattern=pattern))


def of_jobs(store: Store, jobs: Iterable[int]) -> dict[int, TaskSummary]:
    """Return the tasks of jobs, by the ids of the jobs."""
    rows = store.rows("tasks_of_jobs", jobs=as_json(list(jobs)))
    return {summary.job_id: summary for summary in _summaries(store, rows)}


def with_tasks(store: Store, jobs: Mapping[int, JobSummary]) -> dict[int, TaskJob]:
    """Return those jobs that are of tasks, with their tasks."""
    return {id: TaskJob(**asdict(jobs[id]), task=summary)
            for id, summary in of_jobs(store, jobs).items()}  # fmt: skip


def _summaries(store: Store, rows: Sequence[Row]) -> list[TaskSummary]:
    files: dict[int, dict[str, int]] = {}
    wanted = as_json([row["id"] for row in rows])
    for row in store.rows("input_counts_of_tasks", tasks=wanted) if rows else []:
        files.setdefault(row["task_id"], {})[row["status"]] = row["n"]
    return [make(TaskSummary, row, files=files.get(row["id"], {})) for row in rows]


def task(store: Store, name: str) -> TaskSummary:
    """Return the task of a name. Raises NotFound, with the nearest name."""
    summaries = [summary for summary in tasks(store, name) if summary.name == name]
    if summaries:
        return summaries[0]
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
    events = event_ranges.counts(store, number)
    return [make(DatasetView, asdict(row), files=counts.get(row.id, {}),
                 ranges=events.get(row.id, {}))
            for row in state.datasets(store, number)]  # fmt: skip


class Remains(Struct, frozen=True):
    """What is left of a task besides its results; sizes in bytes."""

    files: int
    size: int
    packages: int
    left: int


def remains(store: Store, number: int) -> Remains:
    """Return the files that were not merged, and the kept outputs of failed packages."""
    files = store.row("unmerged_files", task=number)
    left = store.row("left_of_task", task=number)
    assert files is not None
    assert left is not None
    return Remains(files["files"], files["size"], left["packages"], left["size"])


def log(store: Store, number: int) -> list[TaskChange]:
    """Return what has happened to a task."""
    return make_all(TaskChange, store.rows("task_log", task=number))


def file(store: Store, number: int, name: str) -> FileView:
    """Return a file of a task by its name, or the last part of it. Raises NotFound."""
    row = store.row("content_named", task=number, name=name)
    if row is None:
        alike = store.rows("contents_in_folders", task=number, name=name)
        if len(alike) == 1:
            return file(store, number, alike[0]["name"])
        named = f"several files `{name}`" if alike else f"no file `{name}`"
        task = state.task(store, number)
        hint = (f"for example `{alike[0]['name']}`" if alike else
                f"d0ctl task status {task.name}" if task else None)  # fmt: skip
        raise NotFound(f"the task has {named}", hint=hint)
    counted = {row["status"]: row["n"] for row in store.rows("ranges_of_file", content=row["id"])}
    return make(FileView, row, ranges=counted,
                attempts=store.rows("attempts_of_file", content=row["id"], limit=LAST),
                open_ranges=store.rows("open_ranges", content=row["id"], limit=LAST))  # fmt: skip
