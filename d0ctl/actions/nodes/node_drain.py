"""node drain: give a node no new packages."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from d0ctl.actions.action import Action, AnyRequest, Author, NodeRequest, Plan
from d0ctl.actions.nodes import _left_files, _together
from d0ctl.actions.option import Options
from d0ctl.select.node_names import NodeNames
from d0ctl.store.clusters import only_copies
from d0ctl.store.clusters.only_copies import NeededFiles
from d0ctl.store.connection import Store
from d0ctl.store.files.copies import OnlyCopies
from d0ctl.store.nodes import draining, registry
from d0ctl.units import count


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainPlan(Plan):
    """What stays on the node after a drain."""

    launched: int
    """How many packages are still there."""
    others: frozenset[str]
    """The other nodes that take packages, or will when they are contacted."""
    is_by_d0ctl: bool
    """Whether d0ctl itself has drained it, and would try it again: no command goes back to that."""
    needed: NeededFiles | None
    """The files that only it has and that are still needed."""
    only_there: OnlyCopies | None
    """The files that only it has; None if another node or this machine has its cache."""


def prepare(store: Store, request: AnyRequest[Any, Any], now: float) -> AnyRequest[Any, Any]:
    """Return the request with the names that its patterns select; several are described as one."""
    request = _together.together(store, request, now)
    if isinstance(request.target, NodeNames):
        return replace(request, action=replace(request.action, describe=describe_all))
    return request


def plan(store: Store, request: NodeRequest[Options], now: float) -> DrainPlan:
    """Plan to drain it. Raises NotFound, or Refused if a person has drained it."""
    row = registry.named(store, request.target.brief)
    draining.check_undrained(store, row)
    others = [other.name for other in registry.nodes(store)
              if other.id != row.id and other.state != "down" and not other.drained]  # fmt: skip
    launched = registry.launched_on(store, row.id)
    return DrainPlan(
        request=request, launched=launched, others=frozenset(others),
        is_by_d0ctl=draining.bad_node(store, row.id) is not None,
        needed=only_copies.needed(store, row), only_there=only_copies.of_node(store, row),
    )  # fmt: skip


def drain(store: Store, plan: DrainPlan, by: Author) -> None:
    """Give it no new packages until a person resumes it."""
    row = registry.named(store, plan.request.target.brief)
    draining.drain(store, row.id, note=by.note, now=by.now)


def describe(plan: DrainPlan) -> Iterator[str]:
    """Say what the node would take and what would continue."""
    yield f"would drain `{plan.request.target.brief}`: it would take no new packages"
    yield from _untried(plan)
    continuing = f"{count(plan.launched, 'package')} there would continue"
    yield continuing if plan.launched else "no packages are running there"
    yield from _needed(plan)
    yield from _remaining([plan])


def describe_all(plan: _together.JointPlan) -> Iterator[str]:
    """Say what several nodes would take and what would continue, each fact once."""
    plans = [each for each in plan.plans if isinstance(each, DrainPlan)]
    for each in plans:
        continuing = f"; {count(each.launched, 'package')} there would continue"
        yield (f"would drain `{each.request.target.brief}`: it would take no new packages"
               f"{continuing if each.launched else ''}")  # fmt: skip
        yield from _untried(each)
        yield from _needed(each, f"`{each.request.target.brief}`: ")
    if not any(each.launched for each in plans):
        yield "no packages are running on these nodes"
    yield from _remaining(plans)


def _untried(plan: DrainPlan, *, would: bool = True) -> Iterator[str]:
    """Say that a node that d0ctl has drained waits for a person from now on."""
    if plan.is_by_d0ctl:
        tries, stays = ("would no longer try", "would stay") if would else (
            "no longer tries", "stays")  # fmt: skip
        yield (f"d0ctl had drained it, and {tries} it by itself: it {stays} drained until "
               f"`d0ctl node resume {plan.request.target.brief}`")  # fmt: skip


def _needed(plan: DrainPlan, lead: str = "") -> Iterator[str]:
    """Say which files only the node has when it is drained."""
    return _only_it_has(plan.needed, plan.only_there, lead)


def _only_it_has(
    needed: NeededFiles | None, only_there: OnlyCopies | None, lead: str
) -> Iterator[str]:
    """Say that packages need files that only the node has, or that these are retained."""
    if needed:
        yield f"{lead}{needed.awaited('while the node is switched off', can_save=True)}"
    yield from _left_files.retained(only_there, f"{lead}only it has", can_save=True)


def files_left(store: Store, names: Sequence[str]) -> Iterator[str]:
    """Say which files only these nodes have now, each of them."""
    for name in names:
        row = registry.named(store, name)
        needed, only_there = only_copies.needed(store, row), only_copies.of_node(store, row)
        yield from _only_it_has(needed, only_there, f"`{name}`: " if len(names) > 1 else "")


def _remaining(plans: Sequence[DrainPlan]) -> Iterator[str]:
    """Say if no other node takes packages."""
    drained = {each.request.target.brief for each in plans}
    if not frozenset.intersection(*(each.others for each in plans)) - drained:
        yield "no node would be left that takes packages"


def report(plan: DrainPlan) -> Iterator[str]:
    """Say what is still there."""
    left = f": {count(plan.launched, 'package')} still there" if plan.launched else ""
    yield f"drained `{plan.request.target.brief}`{left}"
    yield from _untried(plan, would=False)
    yield from _needed(plan)


def undo_drain(plan: DrainPlan) -> str | None:
    """Return the command that undoes it; None if d0ctl had drained the node, as that is no undo."""
    return None if plan.is_by_d0ctl else f"d0ctl node resume {plan.request.target.brief}"


ACTION = Action(
    name="node drain",
    help="Give nodes no new packages; running ones continue.",
    example="farm02 'lab*' --reason 'new disk'",
    exit_status="0 done, 2 bad usage, 3 nothing matches, 4 refused in this state; with --wait, 1 "
    "if packages are left after the timeout or a node is resumed, 5 if no daemon is running",
    past="drained",
    options=Options,
    prepare=prepare,
    plan=plan,
    act=drain,
    undo=undo_drain,
    describe=describe,
    report=report,
    level="node",
    several=True,
    may_be_first=True,
    key="d",
    title="drain: give it no new packages",
)
