"""task incexec: look inputs up again, and process what is new."""

from collections.abc import Mapping
from dataclasses import dataclass

from d0ctl.actions.action import Action, Author, NodeRequest
from d0ctl.actions.option import Options, ValueType, pairs, values, write_pairs
from d0ctl.actions.tasks import _moving
from d0ctl.actions.tasks._moving import TaskPlan
from d0ctl.errors import BadUsage, Refused
from d0ctl.store.connection import Store
from d0ctl.store.tasks import feeding, state


@dataclass(frozen=True, slots=True)
class IncexecOptions(Options):
    """Options of task incexec."""

    parameters: Mapping[str, str] = values(
        "--set", "KEY=VALUE", "New value of a parameter; may be repeated.", none=dict,
        type=ValueType(pairs, write_pairs), example="KEY=VALUE", log=write_pairs,
    )  # fmt: skip


def plan(store: Store, request: NodeRequest[IncexecOptions], now: float) -> TaskPlan:
    """Plan to look its datasets up again. Raises NotFound, Refused or BadUsage."""
    task = _moving.found(store, request)
    for name in request.options.parameters:
        if name not in task.parameters:
            known = ", ".join(task.parameters) or "none"
            raise BadUsage(f"task `{task.name}` has no parameter `{name}`", hint=f"it has {known}")
    if task.status == "defined":
        raise Refused(f"task `{task.name}` is defined: its inputs are being looked up already",
                      hint=f"d0ctl task status {task.name}")  # fmt: skip
    if task.status != "paused":
        _moving.check(store, task, "defined", "looked up again")
    files = sum(state.counts(store, task.id).get(status, 0) for status in ("failed", "partial"))
    return TaskPlan(request=request, task=task, status="defined", files=files)


def look_again(store: Store, plan: TaskPlan, by: Author) -> None:
    """Let the feeder look up its datasets; packages that are made from now on get the values."""
    if parameters := plan.request.options.parameters:
        state.change_parameters(store, plan.task, {**plan.task.parameters, **parameters})
    feeding.try_again(store, plan.task.id, now=by.now)
    feeding.look_again(store, plan.task.id, now=by.now)
    if plan.task.status == "paused":
        state.look_when_resumed(store, plan.task)
    else:
        _moving.move(store, plan, by, "inputs looked up again")


ACTION = Action(
    name="task incexec",
    help="Look up the inputs of a task again, and process what is new.",
    more_help="Files that have changed, or that failed, are processed again, too. A paused task "
    "does it when it is resumed.",
    example="reco --set calibration=v2",
    exit_status="0 done, 2 bad usage, 3 no such task, 4 refused in this state",
    past="looked up again",
    options=IncexecOptions,
    plan=plan,
    act=look_again,
    describe=lambda plan: _moving.describe(plan, "look up again the inputs of"),
    report=lambda plan: _moving.report(plan, "looking up again the inputs of"),
    level="task",
    starts_packages=True,
    key="I",
    title="task incexec: look inputs up again",
)
