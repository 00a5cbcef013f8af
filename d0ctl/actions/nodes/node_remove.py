"""node remove: remove a node."""

from collections.abc import Iterator
from dataclasses import dataclass

from d0ctl.actions.action import Action, Author, NodeRequest, Plan
from d0ctl.actions.nodes import _together
from d0ctl.actions.option import Options, flag
from d0ctl.errors import Refused
from d0ctl.store.attempts import messages
from d0ctl.store.attempts.launching import launches
from d0ctl.store.connection import Store
from d0ctl.store.nodes import registry
from d0ctl.units import count

GONE = "its node was removed as lost"
"""Why an attempt is lost whose node is gone for good."""


@dataclass(frozen=True, slots=True)
class RemoveOptions(Options):
    """Options of node remove."""

    lost: bool = flag(
        "--lost", "Remove a node that is down and has packages: they run again elsewhere."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovePlan(Plan):
    """What is lost with the node."""

    attempts: tuple[int, ...] = ()
    """The attempts that count as lost."""


def plan(store: Store, request: NodeRequest[RemoveOptions], now: float) -> RemovePlan:
    """Plan to remove it. Raises NotFound, or Refused while packages are launched on it.

    With `lost` they may be, but then it must be down.
    """
    row = registry.named(store, request.target.brief)
    if not request.options.lost:
        registry.check_unused(store, row)
        return RemovePlan(request=request)
    if row.state != "down":
        raise Refused(f"node `{row.name}` is not down, so its packages are not lost",
                      hint=f"d0ctl node remove {row.name}")  # fmt: skip
    return RemovePlan(request=request, attempts=tuple(launches.unreachable(store, row.id)))


def remove(store: Store, plan: RemovePlan, by: Author) -> None:
    """Count its packages as lost, and forget the node; files that only it had are lost."""
    name = plan.request.target.brief
    node = registry.named(store, name).id
    messages.fail(store, node, plan.attempts, reason="lost", message=GONE, now=by.now)
    registry.forget(store, name, now=by.now)


def describe(plan: RemovePlan) -> Iterator[str]:
    """Say what would be lost."""
    name = plan.request.target.brief
    yield f"would remove `{name}`: files that only it has would be made again if needed"
    if plan.attempts:
        packages = count(len(plan.attempts), "package")
        yield f"{packages} there would count as lost and run again elsewhere: is it switched off?"


def report(plan: RemovePlan) -> Iterator[str]:
    """Say what was lost."""
    lost = count(len(plan.attempts), "package")
    runs = f": {lost} there counted as lost, to run again elsewhere" if plan.attempts else ""
    yield f"removed `{plan.request.target.brief}`{runs}"


ACTION = Action(
    name="node remove",
    help="Remove nodes; their only copies of files are made again.",
    example="farm02 farm03",
    past="removed",
    options=RemoveOptions,
    prepare=_together.together,
    plan=plan,
    act=remove,
    describe=describe,
    report=report,
    level="node",
    several=True,
    question="remove it?",
    destroys=True,
    key="X",
    title="remove: a node",
)
