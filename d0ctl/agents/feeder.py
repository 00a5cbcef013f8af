"""The contents feeder: looks up the datasets of a task, and records their files."""

import json
import time

from d0ctl.agents.agent import Clock
from d0ctl.errors import D0Error
from d0ctl.show.tasks import task_notes
from d0ctl.store.connection import Row, Store
from d0ctl.store.tasks import children, feeding, state
from d0ctl.store.tasks.state import Task
from d0ctl.store.views.job_files.known_names import known_names
from d0ctl.taskfile import sources
from d0ctl.units import clean

LATER = ("ready", "running")
"""The statuses of tasks whose datasets it looks up again, if they wait for input."""

STATUSES = ("defined", "pending", *LATER)
"""The statuses of tasks that it works on."""

AGAIN_S = 60.0
"""How long after a look it looks again at the datasets of a task that waits for input."""

FIRST_REST_S, LONGEST_REST_S = 10.0, 600.0
"""How long it leaves a dataset alone that can't be looked up: longer each time."""


def act(store: Store, task: Task, clock: Clock) -> bool:
    """Look up the datasets of a task that are due; return whether the task has another status."""
    if task.status in LATER:
        return _look_later(store, task, clock)
    if why := children.why_not_yet(store, task):
        with store.writing():
            moved = task.status != "pending" and state.move(
                store, task, "pending", now=clock(), note=why
            )
            state.wait(store, task, why, until=clock() + LONGEST_REST_S)
        return moved
    return _conclude(store, task, clock(), "; ".join(_look_up_due(store, task, clock)))


def wants(store: Store, task: Task, now: float) -> bool:
    """Return whether the datasets of a task may have to be looked up."""
    return task.status not in LATER or (
        task.rules.waits_for_input and _are_old(_inputs(store, task), time.time())
    )


def _inputs(store: Store, task: Task) -> list[Row]:
    return [row for row in state.datasets(store, task.id) if not row["output"]]


def _are_old(inputs: list[Row], now: float) -> bool:
    """Return whether it is time for another look at all datasets."""
    return all(max(row["looked"] or 0.0, row["since"]) + AGAIN_S <= now for row in inputs)


def _look_later(store: Store, task: Task, clock: Clock) -> bool:
    """Look up again the datasets of a task that goes on; return whether there are new files."""
    now = clock()
    if not _are_old(_inputs(store, task), now):
        return False
    with store.writing():
        feeding.look_again(store, task.id, now=now)
    before = state.counts(store, task.id)
    _look_up_due(store, task, clock)
    return state.counts(store, task.id) != before


def _look_up_due(store: Store, task: Task, clock: Clock) -> list[str]:
    due = [
        row for row in state.datasets(store, task.id)
        if not row["output"] and row["status"] in ("defined", "toupdate", "pending")
        and row["next_look"] <= clock()
    ]  # fmt: skip
    return [note for row in due if (note := _look_up(store, task, row, clock))]


def _look_up(store: Store, task: Task, dataset: Row, clock: Clock) -> str:
    """Record the files of a dataset, or why there are none; return what has changed."""
    source = json.loads(dataset["source"])

    def is_mine() -> bool:
        return state.is_mine(store, task.id)

    try:
        if "task" in source:
            if (why := children.why_no_files(store, dataset)) and not source.get("early-start"):
                raise sources.Unavailable(why)
            return _fed(store, dataset, clock, *children.feed(store, dataset, is_mine))
        found = sources.look_up(source, task.directory, known_names(store))
    except sources.Unavailable as error:
        _fail(store, dataset, "pending", clean(str(error)), clock())
        return ""
    except (sources.Unusable, D0Error) as error:
        _fail(store, dataset, "broken", clean(str(error)), clock())
        return ""
    return _fed(store, dataset, clock, *feeding.feed(store, dataset["id"], found, is_mine))


def _fed(store: Store, dataset: Row, clock: Clock, added: int, changed: int) -> str:
    now = clock()
    with store.writing():
        state.move_dataset(store, dataset["id"], "ready", now=now)
        feeding.looked_up(store, dataset["id"], now=now)
    return task_notes.looked_up(dataset["name"], added, changed)


def _fail(store: Store, dataset: Row, status: str, why: str, now: float) -> None:
    rest_s = min(LONGEST_REST_S, FIRST_REST_S * 2 ** min(dataset["tries"], 10))
    with store.writing():
        state.move_dataset(store, dataset["id"], status, now=now, note=why)
        feeding.look_failed(store, dataset["id"], now + rest_s)


def _conclude(store: Store, task: Task, now: float, note: str) -> bool:
    """Give the task the status that follows from those of its input datasets."""
    inputs = [row for row in state.datasets(store, task.id) if not row["output"]]
    for status, new in (("broken", "broken"), ("pending", "pending")):
        for row in inputs:
            if row["status"] == status:
                why = task_notes.of_dataset(row["name"], row["note"])
                with store.writing():
                    moved = task.status != new and state.move(store, task, new, now=now, note=why)
                    if new == "pending":
                        soonest = min(one["next_look"] for one in inputs if one["status"] == status)
                        state.wait(store, task, why, until=soonest)
                return moved
    if any(row["status"] in ("defined", "toupdate") for row in inputs):
        return False
    with store.writing():
        return state.move(store, task, "ready", now=now, note=note or None)
