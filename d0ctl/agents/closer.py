"""The end of a task: every file is accounted for, and the goal decides."""

from collections.abc import Mapping

from d0ctl.agents.agent import Clock
from d0ctl.store.connection import Store
from d0ctl.store.tasks import content_follower, state
from d0ctl.store.tasks.state import Task

STATUSES = ("ready", "scouting", "running", "finishing", "prepared", "aborting")
"""The statuses of tasks that it works on."""


def act(store: Store, task: Task, clock: Clock) -> bool:
    """Give a task whose packages have ended its next status; return whether it has one."""
    files = state.counts(store, task.id)
    if task.status == "prepared":
        return _complete(store, task, files, clock)
    if files.get("picked") or files.get("running"):
        return False
    if task.status == "aborting":
        new = "aborted"
    elif task.status == "finishing" or not _has_more(task, files):
        new = "prepared"
    else:
        return False
    with store.writing():
        return state.move(store, task, new, now=clock())


def _has_more(task: Task, files: Mapping[str, int]) -> bool:
    """Return whether more packages will be made of its files."""
    if task.rules.waits_for_input:
        return True
    most = task.rules.max_packages
    return bool(files.get("ready")) and (most is None or task.made < most)


def _complete(store: Store, task: Task, files: Mapping[str, int], clock: Clock) -> bool:
    while content_follower.finish_outputs(store, task.id):
        pass
    status, note = verdict(task, files)
    now = clock()
    with store.writing():
        for row in state.datasets(store, task.id):
            is_done = row["type"] == "input" and row["status"] == "ready" and status == "done"
            if row["output"] and row["status"] == "running":
                state.move_dataset(store, row["id"], "prepared", now=now)
            if is_done or (row["output"] and row["status"] in ("running", "prepared")):
                state.move_dataset(store, row["id"], "done", now=now)
        return state.move(store, task, status, now=now, note=note)


def verdict(task: Task, files: Mapping[str, int]) -> tuple[str, str]:
    """Return the last status of a task by its goal, and why. Lost files do not count."""
    whole = sum(number for status, number in files.items() if status != "lost")
    finished = files.get("finished", 0)
    note = f"{finished:,} of {whole:,} files were processed"
    if finished == whole and whole:
        return "done", note
    if not finished:
        return "failed", note
    if task.rules.goal is not None and finished < task.rules.goal * whole:
        return "exhausted", f"{note}, less than the goal of {task.rules.goal:.4g}"
    return "finished", note
