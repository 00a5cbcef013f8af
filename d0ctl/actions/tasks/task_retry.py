"""task retry: process again what was not processed."""

from d0ctl.actions.action import Action, Author, NodeRequest
from d0ctl.actions.option import Options
from d0ctl.actions.tasks import _moving
from d0ctl.actions.tasks._moving import TaskPlan
from d0ctl.errors import Refused
from d0ctl.store.connection import Store
from d0ctl.store.tasks import feeding, merging


def plan(store: Store, request: NodeRequest[Options], now: float) -> TaskPlan:
    """Plan to make packages of the other files. Raises NotFound, or Refused if it is hopeless."""
    task = _moving.found(store, request)
    left = merging.unprocessed(store, task)
    if task.status == "done":
        raise Refused(f"task `{task.name}` is done: all its files were processed",
                      hint=f"d0ctl task incexec {task.name}   # if there are new ones")  # fmt: skip
    if task.generates:
        raise Refused(f"task `{task.name}` is {task.status}, so it can't be retried yet",
                      hint=f"d0ctl task incexec {task.name}   # for failed files now")  # fmt: skip
    _moving.check(store, task, "ready", "retried")
    if not left:
        raise Refused(f"task `{task.name}` has no file that could be processed again",
                      hint=f"d0ctl task status {task.name}")  # fmt: skip
    return TaskPlan(request=request, task=task, status="ready", files=left)


def retry(store: Store, plan: TaskPlan, by: Author) -> None:
    """Make its unsuccessful files ready again, each with all its attempts."""
    feeding.try_again(store, plan.task.id, now=by.now)
    _moving.move(store, plan, by, "retried")


ACTION = Action(
    name="task retry",
    help="Process again what a task has not processed.",
    more_help="Files that were processed stay. A broken task, or one without any result, is "
    "refused: submit it again.",
    example="reco",
    exit_status="0 done, 2 bad usage, 3 no such task, 4 it is hopeless, or has no such file",
    past="retried",
    options=Options,
    plan=plan,
    act=retry,
    undo=lambda plan: f"d0ctl task finish {plan.task.name}",
    describe=lambda plan: _moving.describe(plan, "retry"),
    report=lambda plan: _moving.report(plan, "retrying"),
    level="task",
    starts_packages=True,
    key="R",
    title="task retry: what was not processed",
)
