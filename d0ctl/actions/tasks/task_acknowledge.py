"""task acknowledge: mark a task that ended in vain as seen, so that it needs nobody any more."""

from dataclasses import dataclass

from d0ctl.actions.action import Action, Author, NodeRequest, Way
from d0ctl.actions.option import Options, flag
from d0ctl.actions.tasks import _moving
from d0ctl.actions.tasks._moving import TaskPlan
from d0ctl.errors import Refused
from d0ctl.store.connection import Store
from d0ctl.store.nodes.site import IN_VAIN
from d0ctl.store.tasks import state, views


@dataclass(frozen=True, slots=True)
class TaskAcknowledgeOptions(Options):
    """Options of task acknowledge."""

    withdraw: bool = flag("--withdraw", "Have the task need a person again.")


def plan(store: Store, request: NodeRequest[TaskAcknowledgeOptions], now: float) -> TaskPlan:
    """Plan to acknowledge how it ended, or to withdraw that. Raises NotFound or Refused."""
    task, withdraw = _moving.found(store, request), request.options.withdraw
    hint = f"d0ctl task status {task.name}"
    if task.status not in IN_VAIN:
        raise Refused(f"task `{task.name}` is {task.status}; only tasks that ended in vain are"
                      " acknowledged", hint=hint)  # fmt: skip
    if withdraw == (views.task(store, task.name).acknowledged is None):
        already = "not acknowledged" if withdraw else "acknowledged already"
        raise Refused(f"task `{task.name}` is {already}", hint=hint)
    return TaskPlan(request=request, task=task, status=task.status)


def acknowledge(store: Store, plan: TaskPlan, by: Author) -> None:
    """Acknowledge how the task ended, or withdraw that."""
    if plan.request.options.withdraw:
        state.withdraw(store, plan.task.id)
    else:
        state.acknowledge(store, plan.task.id, actor=by.actor, note=by.note, now=by.now)


def _undo(plan: TaskPlan) -> str:
    back = "" if plan.request.options.withdraw else " --withdraw"
    return f"d0ctl task acknowledge {plan.task.name}{back}"


_WORDS = {
    False: ("acknowledge", "acknowledged"),
    True: ("withdraw the acknowledgement of", "withdrew the acknowledgement of"),
}


ACTION = Action(
    name="task acknowledge",
    help="Mark a task that ended in vain as seen: it needs nobody any more.",
    more_help="The task keeps its status. If it is tried again, its end counts again.",
    example="reco --reason 'its dataset was withdrawn'",
    exit_status="0 done, 3 no such task, 4 it has not ended in vain, or is acknowledged already",
    past="acknowledged",
    options=TaskAcknowledgeOptions,
    plan=plan,
    act=acknowledge,
    undo=_undo,
    describe=lambda plan: _moving.describe(plan, _WORDS[plan.request.options.withdraw][0]),
    report=lambda plan: _moving.report(plan, _WORDS[plan.request.options.withdraw][1]),
    level="task",
    key="Y",
    title="task acknowledge: it needs nobody any more",
    ways=(Way("acknowledge it"), Way("have it need a person again", frozenset({"--withdraw"}))),
)
