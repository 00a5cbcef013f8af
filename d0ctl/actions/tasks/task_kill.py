"""task kill: end a task with all its packages."""

from d0ctl.actions.action import Action, Author, NodeRequest
from d0ctl.actions.option import Options
from d0ctl.actions.tasks import _moving
from d0ctl.actions.tasks._moving import TaskPlan
from d0ctl.store.connection import Store


def plan(store: Store, request: NodeRequest[Options], now: float) -> TaskPlan:
    """Plan to end it with its packages. Raises NotFound or Refused."""
    task = _moving.found(store, request)
    _moving.check(store, task, "aborting", "killed")
    packages = _moving.killable(store, task).packages
    return TaskPlan(request=request, task=task, status="aborting", packages=packages)


def kill(store: Store, plan: TaskPlan, by: Author) -> None:
    """Kill its packages; it is aborted when the last of them has ended."""
    _moving.move(store, plan, by, "killed")
    _moving.kill_packages(store, plan.task, by)


ACTION = Action(
    name="task kill",
    help="End a task and kill its packages.",
    more_help="What was processed stays; `task retry` goes on with the rest.",
    example="reco --reason 'wrong calibration'",
    exit_status="0 done, 1 not confirmed, 2 bad usage, 3 no such task, 4 refused in this state",
    past="killed",
    options=Options,
    plan=plan,
    act=kill,
    undo=lambda plan: f"d0ctl task retry {plan.task.name}",
    describe=lambda plan: _moving.describe(plan, "kill"),
    report=lambda plan: _moving.report(plan, "killed"),
    level="task",
    question="kill it?",
    destroys=True,
    key="K",
    title="task kill: end it with its packages",
)
