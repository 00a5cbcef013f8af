"""node free: make space in the cache of a node."""

from collections.abc import Iterator
from dataclasses import dataclass

from d0ctl.actions import wording
from d0ctl.actions.action import Action, Author, NodeRequest, Plan
from d0ctl.actions.option import SIZE, Options, argument
from d0ctl.errors import Refused
from d0ctl.store.connection import Store
from d0ctl.store.files import inventory
from d0ctl.store.jobs import unneeded_files
from d0ctl.store.jobs.unneeded_files import RemovableCopy
from d0ctl.store.nodes import registry
from d0ctl.units import count, duration, size


@dataclass(frozen=True, slots=True)
class FreeOptions(Options):
    """How much space to make."""

    wanted: int = argument(
        "SIZE", "How much to free, such as 200GB.", type=SIZE, example="200GB", log=SIZE.write
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FreePlan(Plan):
    """The copies that would be removed."""

    node: int
    copies: tuple[RemovableCopy, ...]

    @property
    def bytes(self) -> int:
        """How much space that makes."""
        return sum(copy.size for copy in self.copies)


def plan(store: Store, request: NodeRequest[FreeOptions], now: float) -> FreePlan:
    """Choose copies. Raises NotFound, and Refused if none can be removed."""
    row = registry.named(store, request.target.brief)
    copies = unneeded_files.copies_to_remove(store, row.id, request.options.wanted)
    if not copies:
        others = f"d0ctl file list '*:*' --node {row.name}   # files that can be purged by name"
        raise Refused(
            f"nothing in the cache of `{row.name}` can be removed",
            hint=others if inventory.has_copies(store, row.id) else None,
        )
    return FreePlan(request=request, node=row.id, copies=tuple(copies))


def free(store: Store, plan: FreePlan, by: Author) -> None:
    """Have the node remove the copies."""
    unneeded_files.give_up(store, plan.node, plan.copies, now=by.now)


def describe(plan: FreePlan) -> Iterator[str]:
    """Say which copies would be removed, and the cost of copying or making them again."""
    yield f"would free {_amount(plan)}"
    lines = [f"{copy.name}  {size(copy.size)}  {_again(copy)}" for copy in plan.copies]
    yield from wording.few(lines, len(lines))
    yield from _cost(plan)


def report(plan: FreePlan) -> Iterator[str]:
    """Say what is being removed."""
    yield f"freed {_amount(plan)}"
    yield from _cost(plan)


def _amount(plan: FreePlan) -> str:
    wanted = plan.request.options.wanted
    short = f", less than the {size(wanted)} requested" if plan.bytes < wanted else ""
    copies = count(len(plan.copies), "copy", "copies")
    return f"{size(plan.bytes)} on `{plan.request.target.brief}`{short}: {copies}"


def _again(copy: RemovableCopy) -> str:
    if copy.is_elsewhere:
        return "has another copy"
    if copy.is_outside:
        return "can be fetched again"
    return f"was made in {duration(copy.run_s)}"


def _cost(plan: FreePlan) -> Iterator[str]:
    alone = [copy for copy in plan.copies if not copy.is_elsewhere and not copy.is_outside]
    if alone:
        run_s = sum(copy.run_s for copy in alone)
        yield (f"{count(len(alone), 'file')} would be made again if read: "
               f"{duration(run_s)} of run time")  # fmt: skip


ACTION = Action(
    name="node free",
    help="Free space in a node's cache; cheap copies are removed first.",
    more_help="It leaves files that unfinished packages need, and those with `retain-indef`.",
    example="farm02 200GB --dry-run",
    past="freed space on",
    options=FreeOptions,
    plan=plan,
    act=free,
    describe=describe,
    report=report,
    level="node",
    question="remove these copies?",
    destroys=True,
    key="f",
    title="free: make space in its cache",
)
