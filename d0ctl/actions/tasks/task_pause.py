"""task pause: make no more packages, and start none of those that exist."""

from d0ctl.actions.action import Action, Author, NodeRequest
from d0ctl.actions.option import Options
from d0ctl.actions.tasks import _moving
from d0ctl.actions.tasks._moving import TaskPlan
from d0ctl.store.connection import Store
from d0ctl.store.jobs import pause as pauses


def plan(store: Store, request: NodeRequest[Options], now: float) -> TaskPlan:
    """Plan to pause it. Raises NotFound or Refused."""
    task = _moving.found(store, request)
    _moving.check(store, task, "paused", "paused")
    return TaskPlan(request=request, task=task, status="paused")


def pause(store: Store, plan: TaskPlan, by: Author) -> None:
    """Pause the task and its job; packages that run go on."""
    _moving.move(store, plan, by, "paused")
    pauses.pause_jobs(store, [plan.task.job_id], running=False, **by._asdict())


ACTION = Action(
    name="task pause",
    help="Make no more packages of a task, and start none; running ones go on.",
    example="reco --reason 'a disk is full'",
    exit_status="0 done, 2 bad usage, 3 no such task, 4 refused in this state",
    past="paused",
    options=Options,
    plan=plan,
    act=pause,
    undo=lambda plan: f"d0ctl task resume {plan.task.name}",
    describe=lambda plan: _moving.describe(plan, "pause"),
    report=lambda plan: _moving.report(plan, "paused"),
    level="task",
    key="S",
    title="task pause: make and start no more packages",
)
