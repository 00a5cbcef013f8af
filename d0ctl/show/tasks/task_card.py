"""Tasks for people: the list, one task with its datasets, and its history."""

from collections.abc import Mapping, Sequence

from d0ctl.show.drawing.sheet import Sheet
from d0ctl.store.tasks.views import DatasetView, Remains, TaskChange, TaskSummary
from d0ctl.taskfile.spec import TaskSpec
from d0ctl.units import count, duration, listed, moment, percent, size

NO_TASKS = "no tasks: d0ctl task submit FILE"

ORDER = ("finished", "running", "picked", "ready", "partial", "failed", "missing", "lost", "broken",
         "defined", "prepared", "merging")  # fmt: skip
"""The statuses of files, as they are listed."""

NARROW = 60
"""On so few columns the types of datasets are left out."""


def submitted(name: str) -> str:
    """Say that a task was submitted."""
    return f"submitted task `{name}`"


def moved_aside(folder: str) -> str:
    """Say where older files of a task of this name are."""
    return f"older files under the name of this task are now in {folder}"


def would_submit(name: str, spec: TaskSpec) -> str:
    """Say what would be submitted."""
    names = listed(
        [f"`{dataset.name}`" for dataset in spec.datasets if dataset.type in ("input", "lib")]
    )
    return f"would submit task `{name}` over {names}"


def files(counts: Mapping[str, int]) -> str:
    """Return how many files have each status."""
    known = [status for status in ORDER if counts.get(status)]
    return ", ".join(f"{counts[status]:,} {status}" for status in known)


def ranges(counts: Mapping[str, int]) -> str:
    """Return how many ranges of events have each status."""
    return ", ".join(f"{number:,} {status}" for status, number in sorted(counts.items()))


def put_list(page: Sheet, tasks: Sequence[TaskSummary], now: float) -> None:
    """Add a line for each task."""
    if not tasks:
        page.add(NO_TASKS)
        return
    page.table([
        [(task.name, "strong"), task.status, progress(task), count(task.made, "package"),
         duration(now - task.since), why(task)]
        for task in tasks
    ], indent=0)  # fmt: skip


def progress(task: TaskSummary) -> str:
    """Return how many of the input files were processed."""
    whole = sum(task.files.values())
    return (
        f"{task.files.get('finished', 0):,} of {count(whole, 'file')}" if whole else "no files yet"
    )


def why(task: TaskSummary) -> str:
    """Return why a task has its status, or does not go on."""
    return task.waits or task.note or ""


def seen(task: TaskSummary, now: float) -> str:
    """Return who acknowledged that a task ended in vain, when and why."""
    if task.acknowledged is None:
        return ""
    why = f": {task.acknowledged_because}" if task.acknowledged_because else ""
    return f"acknowledged by {task.acknowledged} {moment(task.acknowledged_at or now, now)}{why}"


def remaining(name: str, remains: Remains) -> str:
    """Return what is left of a task that has ended, and the command that tells more."""
    parts = []
    if remains.files:
        files = count(remains.files, "file")
        parts.append(f"{files} not merged, {size(remains.size)}: d0ctl file list '{name}:*'")
    if remains.packages:
        packages = count(remains.packages, "failed package")
        parts.append(f"outputs of {packages}, {size(remains.left)}: d0ctl status {name}:failed")
    return "; ".join(parts)


def put(
    page: Sheet, task: TaskSummary, datasets: Sequence[DatasetView], remains: Remains, now: float
) -> None:
    """Add a task with its datasets."""
    page.head(f"task {task.name}", task.title)
    rows = [
        ["status", f"{task.status} for {duration(now - task.since)}"],
        ["because", why(task)],
        ["files", progress(task)],
        ["packages", f"{task.made:,} made: d0ctl status {task.name}"],
        ["goal", percent(task.goal) if task.goal is not None else ""],
        ["merged at", f"`{task.destination}`: {task.destination_why}" if task.destination else ""],
        ["submitted", f"{moment(task.submitted, now)} by {task.originator}"],
        ["ended", moment(task.ended, now) if task.ended is not None else ""],
        ["seen", seen(task, now)],
        ["left", remaining(task.name, remains) if task.ended is not None else ""],
    ]
    page.table([[(name, "faint"), text] for name, text in rows if text])
    put_datasets(page, datasets)


def put_datasets(page: Sheet, datasets: Sequence[DatasetView]) -> None:
    """Add the datasets of a task with the numbers of their files."""
    page.head("datasets")
    is_narrow = page.columns < NARROW
    page.table([
        [(dataset.name, "strong"), "" if is_narrow else dataset.type, dataset.status,
         files(dataset.files), dataset.note or ""]
        for dataset in datasets
    ])  # fmt: skip
    if split := [dataset for dataset in datasets if dataset.ranges]:
        page.head("ranges of events")
        page.table([[(dataset.name, "strong"), ranges(dataset.ranges)] for dataset in split])


def put_history(page: Sheet, changes: Sequence[TaskChange], now: float, *, indent: int = 0) -> None:
    """Add the changes of the status of a task."""
    page.table([
        [moment(change.at, now), change.new, change.actor or "d0ctl", change.note or ""]
        for change in changes
    ], indent=indent)  # fmt: skip
