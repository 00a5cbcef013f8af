"""The scouts of a task: its first packages tell how others are split, or that they would fail."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from d0ctl.agents.agent import Clock
from d0ctl.show.tasks import task_notes
from d0ctl.store.connection import Store
from d0ctl.store.tasks import generation, state
from d0ctl.store.tasks.generation import Scout
from d0ctl.store.tasks.state import Task

STATUSES = ("scouting",)
"""The statuses of tasks that it works on."""


def act(store: Store, task: Task, clock: Clock) -> bool:
    """Measure scouts that have all ended; return whether the task has another status."""
    scouts = generation.scouts(store, task)
    done = [scout for scout in scouts if scout.phase == "done"]
    now = clock()
    if len(done) < task.rules.scout_success * len(scouts) or not done:
        note = task_notes.failed_scouts(len(scouts) - len(done), len(scouts))
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


def measure(done: Sequence[Scout], task: Task) -> dict[str, Any]:
    """Return what scouts needed: medians per file, and the largest memory.

    `files` is how many files a package takes so that it runs for the target time; `events` is how
    many events, if these decide how large packages are.
    """
    seconds = median([_per_file(scout, scout.seconds) for scout in done])
    wall = sum(scout.seconds or 0.0 for scout in done)
    measurement: dict[str, Any] = {
        "scouts": len(done),
        "seconds": seconds,
        "memory": max((scout.rss or 0 for scout in done), default=0) or None,
        "output": round(median([_per_file(scout, scout.output) for scout in done])),
        "cpu": sum(scout.cpu or 0.0 for scout in done) / wall if wall else None,
    }
    if task.rules.target_time is not None:
        events = [scout.events or 0 for scout in done]
        by_events = task.rules.events_per_package is not None and all(events)
        if by_events:
            seconds = median([(scout.seconds or 0.0) / (scout.events or 1) for scout in done])
        fitting = max(1, int(task.rules.target_time / max(seconds, 1e-9 if by_events else 0.001)))
        measurement["events" if by_events else "files"] = fitting
    return measurement


def _per_file(scout: Scout, amount: float | None) -> float:
    return (amount or 0.0) / max(1, scout.files)
