"""task avalanche: make all packages without waiting for scouts."""

from msgspec.structs import replace

from d0ctl.actions.action import Action, Author, NodeRequest
from d0ctl.actions.option import Options
from d0ctl.actions.tasks import _moving
from d0ctl.actions.tasks._moving import TaskPlan
from d0ctl.errors import Refused
from d0ctl.store.connection import Store
from d0ctl.store.tasks import state

BEFORE = ("defined", "pending", "ready", "paused")
"""Statuses of a task that may have scouts later."""


def plan(store: Store, request: NodeRequest[Options], now: float) -> TaskPlan:
    """Plan to skip its scouts. Raises NotFound, or Refused if it has none left."""
    task = _moving.found(store, request)
    if task.status == "scouting":
        return TaskPlan(request=request, task=task, status="running")
    if task.status not in BEFORE or not task.rules.first_scouts or task.measured:
        raise Refused(f"task `{task.name}` is {task.status} and waits for no scouts",
                      hint=f"d0ctl task status {task.name}")  # fmt: skip
    return TaskPlan(request=request, task=task, status=task.status)


def skip(store: Store, plan: TaskPlan, by: Author) -> None:
    """Skip the scouts."""
    state.change_rules(store, plan.task, replace(plan.task.rules, avalanche=True))
    if plan.status != plan.task.status:
        _moving.move(store, plan, by, "scouts skipped")


ACTION = Action(
    name="task avalanche",
    help="Make the packages of a task without waiting for its scouts.",
    example="reco",
    exit_status="0 done, 3 no such task, 4 it waits for no scouts",
    past="avalanched",
    options=Options,
    plan=plan,
    act=skip,
    describe=lambda plan: _moving.describe(plan, "skip the scouts of"),
    report=lambda plan: _moving.report(plan, "skipped the scouts of"),
    level="task",
    starts_packages=True,
    key="A",
    title="task avalanche: skip the scouts",
)
