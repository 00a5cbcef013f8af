"""node drain: give a node no new packages."""

from collections.abc import Iterator
from dataclasses import dataclass

from d0ctl.actions.action import Action, Author, NodeRequest, Plan
from d0ctl.actions.nodes import _together
from d0ctl.actions.option import Options
from d0ctl.store.connection import Store
from d0ctl.store.nodes import draining, registry
from d0ctl.units import count


@dataclass(frozen=True, slots=True, kw_only=True)
class DrainPlan(Plan):
    """What stays on the node after a drain."""

    launched: int
    """How many packages are still there."""


def plan(store: Store, request: NodeRequest[Options], now: float) -> DrainPlan:
    """Plan to drain it. Raises NotFound, or Refused if a person has drained it."""
    row = registry.named(store, request.target.brief)
    draining.check_undrained(store, row)
    return DrainPlan(request=request, launched=registry.launched_on(store, row.id))


def drain(store: Store, plan: DrainPlan, by: Author) -> None:
    """Give it no new packages until a person resumes it."""
    row = registry.named(store, plan.request.target.brief)
    draining.drain(store, row.id, note=by.note, now=by.now)


def describe(plan: DrainPlan) -> Iterator[str]:
    """Say what the node would take and what would continue."""
    yield f"would drain `{plan.request.target.brief}`: it would take no new packages"
    continuing = f"{count(plan.launched, 'package')} there would continue"
    yield continuing if plan.launched else "no packages are running there"


def report(plan: DrainPlan) -> Iterator[str]:
    """Say what is still there."""
    left = f": {count(plan.launched, 'package')} still there" if plan.launched else ""
    yield f"drained `{plan.request.target.brief}`{left}"


ACTION = Action(
    name="node drain",
    help="Give nodes no new packages; running ones continue.",
    example="farm02 'lab*' --reason 'new disk'",
    past="drained",
    options=Options,
    prepare=_together.together,
    plan=plan,
    act=drain,
    undo=lambda plan: f"d0ctl node resume {plan.request.target.brief}",
    describe=describe,
    report=report,
    level="node",
    several=True,
    may_be_first=True,
    key="d",
    title="drain: give it no new packages",
)
