"""The end of a task: every file is accounted for, and the goal decides."""

from collections.abc import Mapping

from d0ctl.agents.agent import Clock
from d0ctl.show.tasks import task_notes
from d0ctl.store.connection import Store
from d0ctl.store.tasks import children, content_follower, feeding, merging, state, validation
from d0ctl.store.tasks.state import Task

STATUSES = ("ready", "scouting", "running", "finishing", "prepared", "aborting")
"""The statuses of tasks that it works on."""


def act(store: Store, task: Task, clock: Clock) -> bool:
    """Give a task whose packages have ended its next status; return whether it has one."""
    if task.status == "prepared":
        return _complete(store, task, clock) if _is_merged(store, task) else False
    new = _next(store, task)
    if new is None:
        return False
    with store.writing():
        return state.move(store, task, new, now=clock())


def wants(store: Store, task: Task, now: float) -> bool:
    """Return whether a task may get its next status now."""
    if task.status == "prepared":
        return _is_merged(store, task)
    return _next(store, task) is not None


def _is_merged(store: Store, task: Task) -> bool:
    """Return whether no package of a task processes or merges a file, or will do so."""
    files = state.counts(store, task.id)
    outputs = merging.counts(store, task)
    return not (
        any(files.get(status) for status in ("picked", "running"))
        or any(outputs.get(status) for status in ("prepared", "merging"))
    )


def _next(store: Store, task: Task) -> str | None:
    """Return the next status of a task whose packages have all ended; None while they have not."""
    files = state.counts(store, task.id)
    if files.get("picked") or files.get("running"):
        return None
    if task.status == "aborting":
        return None if merging.counts(store, task).get("merging") else "aborted"
    if task.status == "finishing":
        return "prepared"
    if feeding.is_waiting(store, task.id) or children.makers(store, task):
        return None
    return None if _has_more(task, files) else "prepared"


def _has_more(task: Task, files: Mapping[str, int]) -> bool:
    """Return whether more packages will be made of its files."""
    if task.rules.waits_for_input:
        return True
    most = task.rules.max_packages
    return bool(files.get("ready")) and (most is None or task.made < most)


def _complete(store: Store, task: Task, clock: Clock) -> bool:
    """End a task whose outputs are right; one with a fault is exhausted, with the reason."""
    why = _leave_out_duplicates(store, task, clock) or _fault(store, task)
    if why and validation.is_behind(store):
        return False  # files follow their packages first
    if why:
        with store.writing():
            return state.move(store, task, "exhausted", now=clock(), note=why)
    while content_follower.finish_outputs(store, task.id):
        pass
    status, note = verdict(task, state.counts(store, task.id), merging.unmerged(store, task))
    now = clock()
    with store.writing():
        for row in state.datasets(store, task.id):
            is_done = row.type == "input" and row.status == "ready" and status == "done"
            if row.output and row.status == "running":
                state.move_dataset(store, row.id, "prepared", now=now)
            if is_done or (row.output and row.status in ("running", "prepared")):
                state.move_dataset(store, row.id, "done", now=now)
        children.wake(store, task)
        return state.move(store, task, status, now=now, note=note)


def _fault(store: Store, task: Task) -> str | None:
    found = validation.fault(store, task)
    return task_notes.fault(*found) if found is not None else None


def _leave_out_duplicates(store: Store, task: Task, clock: Clock) -> str | None:
    """Leave out outputs of files that are in others, too; return why that can't be done."""
    if not validation.choose_duplicates(store, task):
        return None
    if (path := validation.duplicate(store)) is not None:
        return task_notes.fault("duplicate", {"path": path})
    with store.writing():
        if left := [entry for entry in validation.leave_out_duplicates(store) if entry[1]]:
            state.say(store, task, task_notes.left_out(left), now=clock())
    return None


def verdict(task: Task, files: Mapping[str, int], unmerged: int = 0) -> tuple[str, str]:
    """Return the last status of a task by its goal, and why. Lost files do not count.

    Of `unmerged` processed files an output could not be merged.
    """
    whole = sum(number for status, number in files.items() if status != "lost")
    processed = files.get("finished", 0)
    finished = processed - unmerged
    note = task_notes.processed(processed, whole, unmerged=unmerged)
    if finished == whole and whole:
        return "done", note
    if not processed and not files.get("partial"):
        return "failed", note
    if task.rules.goal is not None and finished < task.rules.goal * whole:
        return "exhausted", task_notes.processed(processed, whole, task.rules.goal, unmerged)
    return "exhausted" if unmerged and not finished else "finished", note
