"""The contents feeder: looks up the datasets of a task, and records their files."""

import json

from d0ctl.agents import node_folder
from d0ctl.agents.agent import Clock
from d0ctl.errors import D0Error
from d0ctl.jobfile.sections.loop_sources import MAX_VALUES
from d0ctl.show.tasks import task_notes
from d0ctl.store.connection import Store
from d0ctl.store.tasks import children, event_ranges, feeding, state
from d0ctl.store.tasks.state import Dataset, Task
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
    if why := _why_not_yet(store, task):
        with store.writing():
            moved = task.status != "pending" and state.move(
                store, task, "pending", now=clock(), note=why
            )
            state.wait(store, task, why, until=clock() + LONGEST_REST_S)
        return moved
    return _conclude(store, task, clock(), "; ".join(_look_up_due(store, task, clock)))


def _why_not_yet(store: Store, task: Task) -> str | None:
    """Return why a task does not begin yet because of its parent."""
    parent = None if task.parent_id is None else state.task(store, task.parent_id)
    if parent is None:
        return None
    return task_notes.not_yet(parent.name, parent.status, is_ended=parent.is_ended)


def _why_no_files(store: Store, dataset: Dataset) -> str | None:
    """Return why a dataset can't take the files of the task that makes them."""
    row = children.maker(store, dataset)
    if row is None:
        return task_notes.NO_MAKER
    return task_notes.not_yet(row["name"], row["status"], is_ended=bool(row["is_ended"]))


def wants(store: Store, task: Task, now: float) -> bool:
    """Return whether the datasets of a task may have to be looked up."""
    inputs = _inputs(store, task)
    return (
        task.status not in LATER
        or any(_is_due(row, now) for row in inputs)
        or (task.rules.waits_for_input and _are_old(inputs, now))
    )


def _inputs(store: Store, task: Task) -> list[Dataset]:
    return [row for row in state.datasets(store, task.id) if not row.output]


def _is_due(row: Dataset, now: float) -> bool:
    return row.status in ("defined", "toupdate", "pending") and row.next_look <= now


def _are_old(inputs: list[Dataset], now: float) -> bool:
    """Return whether it is time for another look at all datasets."""
    return all(max(row.looked or 0.0, row.since) + AGAIN_S <= now for row in inputs)


def _look_later(store: Store, task: Task, clock: Clock) -> bool:
    """Look up again the datasets of a task that goes on; return whether there are new files."""
    now = clock()
    if task.rules.waits_for_input and _are_old(_inputs(store, task), now):
        with store.writing():
            feeding.look_again(store, task.id, now=now)
    before = state.counts(store, task.id)
    _look_up_due(store, task, clock)
    if not task.rules.waits_for_input and any(
        row.status == "broken" for row in _inputs(store, task)
    ):
        return _conclude(store, task, clock(), "")
    return state.counts(store, task.id) != before


def _look_up_due(store: Store, task: Task, clock: Clock) -> list[str]:
    due = [row for row in _inputs(store, task) if _is_due(row, clock())]
    return [note for row in due if (note := _look_up(store, task, row, clock))]


def _look_up(store: Store, task: Task, dataset: Dataset, clock: Clock) -> str:
    """Record the files of a dataset, or why there are none; return what has changed."""
    source = json.loads(dataset.source or "{}")

    def is_mine() -> bool:
        return state.is_mine(store, task.id)

    try:
        if "task" in source:
            if (why := _why_no_files(store, dataset)) and not source.get("early-start"):
                raise sources.Unavailable(why)
            added, changed = children.feed(store, dataset, is_mine)
        else:
            files = (node_folder.look_up(store, source) if "node" in source
                     else sources.look_up(source, task.directory, known_names(store)))  # fmt: skip
            added, changed = feeding.feed(store, dataset.id, files, is_mine)
    except sources.Unavailable as error:
        return _keep(store, task, dataset, "pending", clock(), clean(str(error)))
    except (sources.Unusable, D0Error) as error:
        return _keep(store, task, dataset, "broken", clock(), clean(str(error)))
    split = 0
    if (events := task.rules.events_per_package) is not None:
        split = event_ranges.packages_of(store, dataset.id, events)
        if split > MAX_VALUES and task.rules.max_packages is None:
            why = task_notes.too_many_ranges(split, MAX_VALUES)
            return _keep(store, task, dataset, "broken", clock(), why)
    _keep(store, task, dataset, "ready", clock())
    return task_notes.looked_up(dataset.name, added, changed, split)


def _keep(
    store: Store, task: Task, dataset: Dataset, status: str, now: float, why: str | None = None
) -> str:
    """Record the result of a look, unless this process hung and another has looked meanwhile."""
    rest_s = min(LONGEST_REST_S, FIRST_REST_S * 2 ** min(dataset.tries, 10))
    with store.writing():
        if state.is_mine(store, task.id):
            state.move_dataset(store, dataset.id, status, now=now, note=why)
            if why is None:
                feeding.looked_up(store, dataset.id, now=now)
            else:
                feeding.look_failed(store, dataset.id, now + rest_s)
            feeding.look_once_more(store, dataset, now=now)
    return ""


def _conclude(store: Store, task: Task, now: float, note: str) -> bool:
    """Give the task the status that follows from those of its input datasets."""
    inputs = _inputs(store, task)
    for status, new in (("broken", "broken"), ("pending", "pending")):
        for row in inputs:
            if row.status == status:
                why = task_notes.of_dataset(row.name, row.note or "")
                with store.writing():
                    moved = task.status != new and state.move(store, task, new, now=now, note=why)
                    if new == "pending":
                        soonest = min(other.next_look for other in inputs if other.status == status)
                        state.wait(store, task, why, until=soonest)
                return moved
    if any(row.status == "defined" or (row.status == "toupdate" and row.tries)
           for row in inputs):  # fmt: skip
        return False
    with store.writing():
        return state.is_mine(store, task.id) and state.move(
            store, task, "ready", now=now, note=note or None
        )
