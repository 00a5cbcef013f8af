"""The scouts of a task: its first packages tell how others are split, or that they would fail."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from d0ctl.agents.agent import Clock
from d0ctl.show.tasks import task_notes
from d0ctl.store.connection import Row, Store
from d0ctl.store.tasks import generation, state
from d0ctl.store.tasks.state import Task

STATUSES = ("scouting",)
"""The statuses of tasks that it works on."""


def act(store: Store, task: Task, clock: Clock) -> bool:
    """Measure scouts that have all ended; return whether the task has another status."""
    rows = generation.scouts(store, task)
    done = [row for row in rows if row["phase"] == "done"]
    now = clock()
    if len(done) < task.rules.scout_success * len(rows) or not done:
        note = task_notes.failed_scouts(len(rows) - len(done), len(rows))
        with store.writing():
            return state.move(store, task, "exhausted", now=now, note=note)
    measured = measure(done, task)
    with store.writing():
        state.keep_measured(store, task, measured)
        return state.move(store, task, "running", now=now, note=task_notes.measured(measured))


def wants(store: Store, task: Task, now: float) -> bool:
    """Return whether all scouts of a task have ended."""
    counts = state.counts(store, task.id)
    return not counts.get("picked") and not counts.get("running")


def measure(done: Sequence[Row], task: Task) -> dict[str, Any]:
    """Return what scouts needed: medians per file, and the largest memory.

    `files` is how many files a package takes so that it runs for the target time; `events` is how
    many events, if these decide how large packages are.
    """
    seconds = median([_per_file(row, "seconds") for row in done])
    wall = sum(row["seconds"] or 0.0 for row in done)
    found: dict[str, Any] = {
        "scouts": len(done),
        "seconds": seconds,
        "memory": max((row["rss"] or 0 for row in done), default=0) or None,
        "output": round(median([_per_file(row, "output") for row in done])),
        "cpu": sum(row["cpu"] or 0.0 for row in done) / wall if wall else None,
    }
    if task.rules.target_time is not None:
        by_events = task.rules.events_per_package is not None and all(row["events"] for row in done)
        if by_events:
            seconds = median([float(row["seconds"] or 0.0) / row["events"] for row in done])
        fitting = max(1, int(task.rules.target_time / max(seconds, 1e-9 if by_events else 0.001)))
        found["events" if by_events else "files"] = fitting
    return found


def _per_file(row: Row, key: str) -> float:
    return float(row[key] or 0.0) / max(1, int(row["files"]))
