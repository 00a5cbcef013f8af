"""task finish: end a task with what was processed."""

from dataclasses import dataclass

from d0ctl.actions.action import Action, Author, NodeRequest, Way
from d0ctl.actions.option import Options, flag
from d0ctl.actions.tasks import _moving
from d0ctl.actions.tasks._moving import TaskPlan
from d0ctl.errors import BadUsage
from d0ctl.store.connection import Store


@dataclass(frozen=True, slots=True)
class TaskFinishOptions(Options):
    """Options of task finish."""

    soft: bool = flag("--soft", "Let packages that exist end by themselves (default).")
    hard: bool = flag("--hard", "Kill packages that have not ended.")


def plan(store: Store, request: NodeRequest[TaskFinishOptions], now: float) -> TaskPlan:
    """Plan to make no more packages of it. Raises NotFound, Refused or BadUsage."""
    if request.options.soft and request.options.hard:
        raise BadUsage("--soft and --hard exclude each other")
    task = _moving.found(store, request)
    _moving.check(store, task, "finishing", "finished")
    packages = _moving.killable(store, task).packages if request.options.hard else 0
    return TaskPlan(request=request, task=task, status="finishing", packages=packages)


def finish(store: Store, plan: TaskPlan, by: Author) -> None:
    """Make no more packages; its goal decides when the last one has ended."""
    _moving.move(store, plan, by, "finished")
    if plan.request.options.hard:
        _moving.kill_packages(store, plan.task, by)


ACTION = Action(
    name="task finish",
    help="Make no more packages of a task; it ends with what was processed.",
    example="reco --hard",
    exit_status="0 done, 2 bad usage, 3 no such task, 4 refused in this state",
    past="finished",
    options=TaskFinishOptions,
    plan=plan,
    act=finish,
    describe=lambda plan: _moving.describe(plan, "finish"),
    report=lambda plan: _moving.report(plan, "finishing"),
    level="task",
    key="E",
    title="task finish: end with what was processed",
    ways=(
        Way("let running packages end", frozenset({"--soft"})),
        Way("kill running packages, too", frozenset({"--hard"})),
    ),
)
