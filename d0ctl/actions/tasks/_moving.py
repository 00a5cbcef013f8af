"""What the actions on tasks share: the task, the change of its status, and its packages."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from d0ctl.actions.action import Author, NodeRequest, Plan
from d0ctl.actions.selection import KILLABLE, Split, split_selected
from d0ctl.errors import Refused
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.tasks import state, views
from d0ctl.store.tasks.state import Task
from d0ctl.units import count

HOPELESS = {
    "broken": "its definition or one of its datasets can't be used",
    "failed": "none of its files was processed, so none would be",
}
"""Why a task that has ended in vain is not tried again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPlan(Plan):
    """A task that gets another status, and what happens to its packages and files."""

    task: Task
    status: str = ""
    files: int = 0
    """How many files are processed again."""


def found(store: Store, request: NodeRequest[Any]) -> Task:
    """Return the task of a request. Raises NotFound."""
    known = state.task(store, views.task(store, request.target.brief).id)
    assert known is not None
    return known


def check(store: Store, task: Task, status: str, past: str) -> None:
    """Raise Refused if the task can't get this status."""
    may_move = state.may_move(store, task.status, status)
    if task.status == "paused" and may_move:
        may_move = status in ("finishing", "aborting")  # the others are for `task resume`
    if not may_move:
        why = HOPELESS.get(task.status)
        verb = "resume" if task.status == "paused" else "why"
        raise Refused(
            f"task `{task.name}` is {task.status}, so it can't be {past}"
            + (f": {why}" if why else ""),
            hint=f"d0ctl task {verb} {task.name}",
        )


def move(store: Store, plan: TaskPlan, by: Author, past: str) -> None:
    """Give the task its status. Raises Refused if an agent has given it another meanwhile."""
    note = by.note_or(past)
    if not state.move(store, plan.task, plan.status, now=by.now, actor=by.actor, note=note):
        raise Refused(f"task `{plan.task.name}` has just got another status",
                      hint="type it again")  # fmt: skip


def killable(store: Store, task: Task) -> Split:
    """Select the packages of a task, and split them by whether they have ended."""
    return split_selected(state.choose_packages(store, task), KILLABLE)


def kill_packages(store: Store, task: Task, by: Author) -> None:
    """Kill the packages of a task that have not ended."""
    if (split := killable(store, task)).packages:
        lifecycle.kill(split.selected, actor=by.actor, note=by.note_or("killed"), now=by.now)


def describe(plan: TaskPlan, verb: str) -> Iterator[str]:
    """Say what would be done with the task, and with packages and files."""
    yield f"would {verb} task `{plan.task.name}`, which is {plan.task.status}{_rest(plan)}"


def report(plan: TaskPlan, past: str) -> Iterator[str]:
    """Say what was done."""
    yield f"{past} task `{plan.task.name}`{_rest(plan)}"


def _rest(plan: TaskPlan) -> str:
    packages = f", with {count(plan.packages, 'package')}" if plan.packages else ""
    return packages + (f": {count(plan.files, 'file')} again" if plan.files else "")
