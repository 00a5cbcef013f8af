"""token add: let a program or a person use the REST interface."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from d0ctl.actions.action import Action, Author, NodeRequest, Plan
from d0ctl.actions.option import Options, ValueType, argument
from d0ctl.errors import BadUsage, Refused
from d0ctl.store.connection import Store
from d0ctl.store.rest import token_secrets
from d0ctl.store.rest.token_secrets import ROLES

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.@-]{0,63}")


def _role(text: str) -> str:
    if text not in ROLES:
        raise ValueError(f"`{text}` is not a role: {', '.join(ROLES)}")
    return text


@dataclass(frozen=True, slots=True)
class TokenOptions(Options):
    """Options of token add."""

    role: str = argument(
        "ROLE", "reader, operator (also acts on jobs) or admin (also on nodes and the site).",
        type=ValueType(_role), choices=ROLES, log=lambda role: [role],
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPlan(Plan):
    """A token to add; afterwards also its secret."""

    secret: str = ""


def plan(store: Store, request: NodeRequest[TokenOptions], now: float) -> TokenPlan:
    """Plan to add it. Raises BadUsage or Refused for its name."""
    name = request.target.brief
    if not _NAME.fullmatch(name):
        raise BadUsage(f"`{name}` can't be a token's name",
                       hint="a letter, then letters, digits, `_`, `.`, `@` and `-`")  # fmt: skip
    if token_secrets.named(store, name) is not None:
        raise Refused(f"there is a token `{name}`", hint=f"d0ctl token remove {name}")
    return TokenPlan(request=request)


def add(store: Store, plan: TokenPlan, by: Author) -> TokenPlan:
    """Add it, and keep its secret for the report."""
    name, role = plan.request.target.brief, plan.request.options.role
    return replace(plan, secret=token_secrets.add(store, name, role, actor=by.actor, now=by.now))


def describe(plan: TokenPlan) -> Iterator[str]:
    """Say what would be added."""
    yield f"would add token `{plan.request.target.brief}` as {plan.request.options.role}"


def report(plan: TokenPlan) -> Iterator[str]:
    """Print the secret, the only time that it can be read."""
    yield plan.secret


ACTION = Action(
    name="token add",
    help="Let a program or a person use the REST interface; print the secret.",
    more_help="The secret can't be printed again: only its digest is kept. History names "
    "`token NAME` as the actor of what is done with it.",
    example="anna operator",
    exit_status="0 done, 2 bad usage, 4 the name is taken",
    past="added",
    options=TokenOptions,
    plan=plan,
    act=add,
    undo=lambda plan: f"d0ctl token remove {plan.request.target.brief}",
    describe=describe,
    report=report,
    notice="the secret is shown only once: keep it, or add another token",
    level="token",
    title="token add: for the REST interface",
)
