"""token remove: refuse a token from now on."""

from collections.abc import Iterator

from d0ctl.actions.action import Action, Author, NodeRequest, Plan
from d0ctl.actions.option import Options
from d0ctl.errors import NotFound
from d0ctl.store.connection import Store
from d0ctl.store.rest import token_secrets


def plan(store: Store, request: NodeRequest[Options], now: float) -> Plan:
    """Plan to remove it. Raises NotFound."""
    name = request.target.brief
    if token_secrets.named(store, name) is None:
        raise NotFound(f"there is no token `{name}`", hint="d0ctl token list")
    return Plan(request=request)


def remove(store: Store, plan: Plan, by: Author) -> None:
    """Forget it."""
    token_secrets.remove(store, plan.request.target.brief)


def describe(plan: Plan) -> Iterator[str]:
    """Say what would be removed."""
    yield f"would remove token `{plan.request.target.brief}`: its secret would be refused"


ACTION = Action(
    name="token remove",
    help="Remove a token; its secret is refused from now on.",
    example="anna",
    exit_status="0 done, 3 no such token",
    past="removed",
    options=Options,
    plan=plan,
    act=remove,
    describe=describe,
    level="token",
    title="token remove: of the REST interface",
)
