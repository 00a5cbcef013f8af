"""node resume: let a drained node take packages again."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from d0ctl.actions.action import Action, Author, NodeRequest, Plan
from d0ctl.actions.nodes import _together
from d0ctl.actions.option import Options
from d0ctl.store.clusters import doubt
from d0ctl.store.connection import Store
from d0ctl.store.nodes import contact, draining, registry


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumePlan(Plan):
    """What a resumed node would do."""

    is_down: bool


def plan(store: Store, request: NodeRequest[Options], now: float) -> ResumePlan:
    """Plan to resume it. Raises NotFound, or Refused if it is not drained or its cache in doubt."""
    row = registry.named(store, request.target.brief)
    draining.check_drained(row)
    doubt.check_settled(row)
    return ResumePlan(request=request, is_down=row.state == "down")


def resume(store: Store, plan: Plan, by: Author) -> None:
    """Let it take packages again, with new statistics."""
    node = registry.named(store, plan.request.target.brief).id
    draining.resume(store, node)
    contact.try_now(store, node)


def describe(plan: ResumePlan) -> Iterator[str]:
    """Say what the node would take, and when."""
    when = " once it answers: it is down" if plan.is_down else ""
    yield f"would resume `{plan.request.target.brief}`: it would take packages again{when}"


ACTION = Action(
    name="node resume",
    help="Let drained nodes take packages again.",
    more_help="A pattern selects only drained nodes.",
    example="farm02 'lab*'",
    past="resumed",
    options=Options,
    prepare=partial(_together.together, suits=lambda row: bool(row.drained)),
    plan=plan,
    act=resume,
    undo=lambda plan: f"d0ctl node drain {plan.request.target.brief}",
    describe=describe,
    level="node",
    several=True,
    starts_packages=True,
    key="C",
    title="resume: let it take packages again",
)
