"""The verbs that change jobs: each as a plan that can be shown, and as one transaction."""

import time
from dataclasses import replace

from d0ctl.actions.conflict import refuse_second
from d0ctl.actions.plan import MOST_SHOWN, Change, Changes, Gainer, Loser, Plan, Request
from d0ctl.actions.selection import LIVE
from d0ctl.actions.table import VERBS, Verb
from d0ctl.actions.undo import take_back
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.jobs import audit

__all__ = [
    "LIVE",
    "MOST_SHOWN",
    "VERBS",
    "Change",
    "Changes",
    "Gainer",
    "Loser",
    "Plan",
    "Request",
    "Verb",
    "apply",
    "latest",
    "preview",
]


def preview(store: Store, request: Request) -> Plan:
    """Build a plan and change nothing. Raises NotFound, Refused or BadUsage as `apply` would."""
    request = VERBS[request.verb].prepare(store, request)
    with store.reading():
        return _plan(store, request)


def apply(
    store: Store,
    request: Request,
    *,
    actor: str,
    note: str | None,
    now: float | None = None,
    seen: int | None = None,
) -> Plan:
    """Plan again and do it, in one transaction, keeping who did it and why.

    With `seen`, the `seen` of a former plan or `latest` of before, it is refused where
    somebody has done something to the same packages since.
    """
    at = time.time() if now is None else now
    verb = VERBS[request.verb]
    request = verb.prepare(store, request)
    with store.writing():
        refuse_second(store, request, seen)
        plan = _plan(store, request)
        verb.act(store, plan, actor, note, at)
        lifecycle.keep_action(
            store, verb=request.verb, target=str(request.target), actor=actor,
            note="; ".join(filter(None, (note, request.changes.words()))) or None,
            packages=plan.packages, now=at, undo=plan.undo,
        )  # fmt: skip
    verb.follow(store, plan, at)
    return plan


def latest(store: Store) -> int:
    """The number of the last thing that anybody did, for `seen` of `apply`."""
    return audit.latest(store)


def _plan(store: Store, request: Request) -> Plan:
    plan = VERBS[request.verb].plan(store, request)
    return replace(plan, undo=take_back(store, plan), seen=audit.latest(store))
