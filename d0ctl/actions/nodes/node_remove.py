"""node remove: remove a node."""

from collections.abc import Iterator

from d0ctl.actions.action import Action, Author, NodeRequest, Plan
from d0ctl.actions.option import Options
from d0ctl.store.connection import Store
from d0ctl.store.nodes import registry


def plan(store: Store, request: NodeRequest[Options], now: float) -> Plan:
    """Plan to remove it. Raises NotFound, or Refused while packages are launched on it."""
    registry.check_unused(store, registry.named(store, request.target.brief))
    return Plan(request=request)


def remove(store: Store, plan: Plan, by: Author) -> None:
    """Forget the node; files that only it had are lost."""
    registry.forget(store, plan.request.target.brief, now=by.now)


def describe(plan: Plan) -> Iterator[str]:
    """Say what would be lost."""
    name = plan.request.target.brief
    yield f"would remove `{name}`: files that only it has would be made again if needed"


ACTION = Action(
    name="node remove",
    help="Remove a node; its only copies of files are made again.",
    example="farm02",
    past="removed",
    options=Options,
    plan=plan,
    act=remove,
    describe=describe,
    level="node",
    question="remove it?",
    destroys=True,
    key="X",
    title="remove: a node",
)
