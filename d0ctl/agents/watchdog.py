"""The watchdog: what happens to a task that has had a status for too long."""

from collections.abc import Mapping
from typing import Any

from d0ctl.agents.agent import Clock
from d0ctl.show.tasks import task_notes
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.jobs import pause
from d0ctl.store.tasks import feeding, state
from d0ctl.store.tasks.state import Task
from d0ctl.taskfile.timeouts import STATUSES as STATUSES

NEW = {"pause": "paused", "finish": "finishing", "kill": "aborting", "look": "defined",
       "exhaust": "exhausted"}  # fmt: skip
"""The status that a task gets by an action; `tell` leaves it as it is."""


def wants(store: Store, task: Task, now: float) -> bool:
    """Return whether a task has had its status for too long, and nothing was done about it."""
    rule = state.timeout(store, task)
    if rule is None or now < task.since + rule["after"]:
        return False
    return _new(store, task, rule) is not None or not state.was_said(store, task)


def _new(store: Store, task: Task, rule: Mapping[str, Any]) -> str | None:
    """Return the status that the task gets; None if its history alone records it."""
    new = NEW.get(rule.get("action", "tell"))
    return new if new is not None and state.may_move(store, task.status, new) else None


def act(store: Store, task: Task, clock: Clock) -> bool:
    """Act on a task that has had its status for too long; return whether it has another."""
    now = clock()
    rule = state.timeout(store, task)
    if rule is None or not wants(store, task, now):
        return False
    new = _new(store, task, rule)
    note = task_notes.too_long(task.status, rule["after"])
    with store.writing():
        if new is None:
            state.say(store, task, note, now=now)
            return False
        if not state.move(store, task, new, now=now, note=note):
            return False
        _follow(store, task, rule["action"], note, now)
    return True


def _follow(store: Store, task: Task, action: str, note: str, now: float) -> None:
    """Do what the action means for packages and datasets, in the same transaction."""
    if action == "pause":
        pause.pause_jobs(store, [task.job_id], running=False, actor="d0ctl", note=note, now=now)
    elif action == "kill":
        lifecycle.kill(state.choose_packages(store, task), actor="d0ctl", note=note, now=now)
    elif action == "look":
        feeding.look_again(store, task.id, now=now)
