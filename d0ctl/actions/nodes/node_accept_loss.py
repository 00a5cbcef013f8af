"""node accept-loss: count missing files in a cache in doubt as lost."""

from collections.abc import Iterator
from dataclasses import dataclass

from d0ctl.actions.action import Action, Author, NodeRequest, Plan
from d0ctl.actions.option import Options
from d0ctl.store.clusters import doubt
from d0ctl.store.connection import Store
from d0ctl.store.nodes import registry
from d0ctl.units import count, size


@dataclass(frozen=True, slots=True, kw_only=True)
class LossPlan(Plan):
    """What would be lost."""

    missing: doubt.MissingCopies


def plan(store: Store, request: NodeRequest[Options], now: float) -> LossPlan:
    """Plan to accept the loss. Raises NotFound, or Refused if the cache is not in doubt."""
    row = registry.named(store, request.target.brief)
    return LossPlan(request=request, missing=doubt.missing(store, row))


def accept(store: Store, plan: LossPlan, by: Author) -> None:
    """Count the copies as lost; files that packages still need are made or copied again."""
    doubt.accept(store, registry.named(store, plan.request.target.brief), now=by.now)


def describe(plan: LossPlan) -> Iterator[str]:
    """Say what would be lost."""
    yield f"would count {_what(plan)} as lost"
    yield _last(plan)


def report(plan: LossPlan) -> Iterator[str]:
    """Say what is lost."""
    yield f"counted {_what(plan)} as lost; the node takes packages again"
    yield _last(plan)


def _what(plan: LossPlan) -> str:
    copies = count(plan.missing.copies, "copy", "copies")
    return f"{copies} on `{plan.request.target.brief}` ({size(plan.missing.size)})"


def _last(plan: LossPlan) -> str:
    last = plan.missing.last
    if not last:
        is_one = plan.missing.copies == 1
        return "this file has another copy" if is_one else "all these files have other copies"
    has, them = ("has", "it") if last == 1 else ("have", "them")
    return f"{count(last, 'file')} {has} no other copy: made again if a package needs {them}"


ACTION = Action(
    name="node accept-loss",
    help="Count the missing files of a cache in doubt as lost.",
    example="farm02 --reason 'the disk is dead'",
    past="accepted the loss on",
    options=Options,
    plan=plan,
    act=accept,
    describe=describe,
    report=report,
    level="node",
    question="do that?",
    destroys=True,
    starts_packages=True,
    key="l",
    title="accept-loss: count missing files as lost",
)
