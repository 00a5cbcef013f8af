"""task resume: go on with a paused task."""

from d0ctl.actions.action import Action, Author, NodeRequest
from d0ctl.actions.option import Options
from d0ctl.actions.tasks import _moving
from d0ctl.actions.tasks._moving import TaskPlan
from d0ctl.errors import Refused
from d0ctl.store.connection import Store


def plan(store: Store, request: NodeRequest[Options], now: float) -> TaskPlan:
    """Plan to give it the status that it had. Raises NotFound or Refused."""
    task = _moving.found(store, request)
    if task.previous is None:
        raise Refused(f"task `{task.name}` is {task.status}, not paused",
                      hint=f"d0ctl task status {task.name}")  # fmt: skip
    return TaskPlan(request=request, task=task, status=task.previous)


def resume(store: Store, plan: TaskPlan, by: Author) -> None:
    """Resume the task, and its job with it."""
    _moving.move(store, plan, by, "resumed")


ACTION = Action(
    name="task resume",
    help="Go on with a paused task.",
    example="reco",
    exit_status="0 done, 3 no such task, 4 it is not paused",
    past="resumed",
    options=Options,
    plan=plan,
    act=resume,
    undo=lambda plan: f"d0ctl task pause {plan.task.name}",
    describe=lambda plan: _moving.describe(plan, "resume"),
    report=lambda plan: _moving.report(plan, "resumed"),
    level="task",
    starts_packages=True,
    key="C",
    title="task resume: go on",
)
