"""One action on several nodes: on all of them in one transaction, or on none."""

import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from d0ctl.actions import undo
from d0ctl.actions.action import Action, AnyRequest, Author, NodeName, Plan
from d0ctl.errors import Refused
from d0ctl.model import Node
from d0ctl.select.node_names import NodeNames, is_pattern, matching
from d0ctl.store.connection import Store
from d0ctl.store.nodes import registry

Suits = Callable[[Node], bool]
"""Whether a pattern selects a node that it matches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JointPlan(Plan):
    """The plan for each of several nodes."""

    plans: tuple[Plan, ...]


@dataclass(frozen=True, slots=True)
class NextNode(NodeName):
    """A node of several, with those on which the action is done before."""

    earlier: tuple[str, ...] = ()


def earlier(request: AnyRequest[Any, Any]) -> tuple[str, ...]:
    """Return the nodes on which the action is done before this one."""
    return request.target.earlier if isinstance(request.target, NextNode) else ()


def all_nodes(row: Node) -> bool:
    """Return that a pattern selects all nodes that it matches."""
    return True


def together(
    store: Store, request: AnyRequest[Any, Any], now: float, *, suits: Suits = all_nodes
) -> AnyRequest[Any, Any]:
    """Return the request with the names that its patterns select.

    Raises NotFound if a pattern matches no node, Refused if none that it matches is suitable.
    """
    if not isinstance(request.target, NodeNames):
        return request
    names = _selected(store, request, suits)
    if len(names) == 1:
        return replace(request, target=NodeName(names[0]))
    return replace(request, action=_joint(request.action), target=NodeNames(tuple(names)))


def _selected(store: Store, request: AnyRequest[NodeNames, Any], suits: Suits) -> list[str]:
    rows = registry.nodes(store)
    suitable = {row.name for row in rows if suits(row)}
    names: list[str] = []
    for typed in request.target.names:
        known = matching([typed], [row.name for row in rows])
        selected = [name for name in known if name in suitable] if is_pattern(typed) else known
        if not selected:
            raise Refused(f"no node of `{typed}` can be {request.action.past}",
                          hint="d0ctl node list")  # fmt: skip
        names += selected
    return list(dict.fromkeys(names))


def _joint(action: Action[Any, Any]) -> Action[Any, JointPlan]:
    """Return an action as one on several nodes."""

    def plan(store: Store, request: AnyRequest[NodeNames, Any], now: float) -> JointPlan:
        names = request.target.names
        targets = [NextNode(name, names[:number]) for number, name in enumerate(names)]
        requests = [AnyRequest(action, target, request.options, request.person)
                    for target in targets]  # fmt: skip
        plans = tuple(action.plan(store, each, now) for each in requests)
        return JointPlan(request=request, plans=plans)

    def act(store: Store, plan: JointPlan, by: Author) -> JointPlan:
        return replace(plan, plans=tuple(action.act(store, p, by) or p for p in plan.plans))

    def describe(plan: JointPlan) -> Iterator[str]:
        return chain.from_iterable(map(action.describe, plan.plans))

    def report(plan: JointPlan) -> Iterator[str]:
        return chain.from_iterable(map(action.report, plan.plans))

    def undone(plan: JointPlan) -> str | None:
        commands = [shlex.split(command) for command in map(action.undo, plan.plans) if command]
        if not commands:
            return None
        return undo.command(" ".join(commands[0][1:-1]), [arguments[-1] for arguments in commands])

    return replace(action, plan=plan, act=act, describe=describe, report=report, undo=undone,
                   question=action.question.replace(" it?", " them?"))  # fmt: skip
