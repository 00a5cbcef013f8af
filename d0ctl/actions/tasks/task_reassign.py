"""task reassign: let the rest of a task run on other nodes."""

from collections.abc import Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from d0ctl.actions import undo
from d0ctl.actions.action import Action, Author, NodeRequest
from d0ctl.actions.new_requests import NewRequests
from d0ctl.actions.option import NAMES, Options, arguments
from d0ctl.actions.packages.edit import EDITABLE
from d0ctl.actions.selection import split_selected
from d0ctl.actions.tasks import _moving
from d0ctl.actions.tasks._moving import TaskPlan
from d0ctl.errors import BadUsage, Refused
from d0ctl.model import Phase
from d0ctl.store.connection import Store
from d0ctl.store.jobs import retry
from d0ctl.store.tasks import state
from d0ctl.store.views.selection import check_node
from d0ctl.units import count, listed

MOVABLE = EDITABLE | {Phase.ASSIGNED}
"""Packages that have not been launched."""


@dataclass(frozen=True, slots=True)
class ReassignOptions(Options):
    """Options of task reassign."""

    nodes: tuple[str, ...] = arguments(
        "NODE", "Nodes to run on.", completes="node", log=NAMES.write
    )


def plan(store: Store, request: NodeRequest[ReassignOptions], now: float) -> TaskPlan:
    """Plan for packages that were not launched, and for those that are made from then on.

    Raises NotFound, Refused or BadUsage.
    """
    task = _moving.found(store, request)
    if not request.options.nodes:
        raise BadUsage("name the nodes", hint=f"d0ctl task reassign {task.name} NODE")
    for node in request.options.nodes:
        check_node(store, node)
    if task.is_ended:
        raise Refused(f"task `{task.name}` is {task.status}, so it can't be reassigned",
                      hint=f"d0ctl task status {task.name}")  # fmt: skip
    packages = split_selected(state.choose_packages(store, task), MOVABLE).packages
    return TaskPlan(request=request, task=task, packages=packages)


def reassign(store: Store, plan: TaskPlan, by: Author) -> None:
    """Change the nodes of packages that were not launched, and of those to come."""
    task, nodes = plan.task, plan.request.options.nodes
    state.change_rules(store, task, replace(task.rules, nodes=nodes))
    state.unassign(store, task, actor=by.actor, note=by.note, now=by.now)
    selected = state.choose_packages(store, task)
    retry.keep_phases(selected, EDITABLE)
    NewRequests(nodes=nodes).change(selected)


def _changed(plan: TaskPlan, verb: str) -> Iterator[str]:
    nodes = listed(plan.request.options.nodes, "or")
    yield (f"{verb} task `{plan.task.name}` to {nodes}: "
           f"{count(plan.packages, 'package')} not launched yet, and all to come")  # fmt: skip


ACTION = Action(
    name="task reassign",
    help="Let the rest of a task run on other nodes.",
    more_help="Packages that were launched stay where they are.",
    example="reco farm01 farm02",
    exit_status="0 done, 2 bad usage, 3 no such task or node, 4 the task has ended",
    past="reassigned",
    options=ReassignOptions,
    plan=plan,
    act=reassign,
    undo=lambda plan: (
        undo.command("task reassign", [plan.task.name, *plan.task.rules.nodes])
        if plan.task.rules.nodes
        else None
    ),
    describe=lambda plan: _changed(plan, "would reassign"),
    report=lambda plan: _changed(plan, "reassigned"),
    level="task",
    starts_packages=True,
    key="N",
    title="task reassign: to other nodes",
)
