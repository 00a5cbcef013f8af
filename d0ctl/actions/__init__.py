"""Actions: each verb that changes something, as a plan to look at and as one transaction."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from d0ctl.actions import conflict
from d0ctl.actions.action import Action, AnyRequest, Author, Conflict, Plan, Request, TargetType
from d0ctl.actions.option import logged
from d0ctl.actions.table import ACTIONS
from d0ctl.errors import D0Error
from d0ctl.select import Selector, union
from d0ctl.store import lifecycle, stage_order
from d0ctl.store.connection import Store
from d0ctl.store.jobs import audit
from d0ctl.store.jobs.require import continue_stages
from d0ctl.store.views.selection import located
from d0ctl.units import clean

__all__ = ["ACTIONS", "Action", "Plan", "Request", "apply", "describe", "preview", "report",
           "request", "together"]  # fmt: skip


def request(name: str, target: TargetType, /, **options: Any) -> AnyRequest[TargetType, Any]:
    """Return the request of an action by its name, with its options as keywords."""
    return ACTIONS[name].request(target, **options)


def preview(store: Store, request: AnyRequest[Any, Any], *, now: float) -> Plan:
    """Make a plan and change nothing. Raises NotFound, Refused or BadUsage as `apply` would."""
    request = request.action.prepare(store, request, now)
    with store.reading():
        return _plan(store, request, now)


_Requests: TypeAlias = Sequence[AnyRequest[Any, Any]]


def together(store: Store, requests: _Requests, *, now: float) -> tuple[_Requests, list[D0Error]]:
    """Return the requests of `--keep-going`, and the errors of those that are left out.

    Of an action in transactions of its own one is made, for all jobs that are not refused: they get
    one archive.
    """
    if not requests or not requests[0].action.in_pieces:
        return requests, []
    targets, errors = [], []
    for request in requests:
        try:
            preview(store, request, now=now)
        except D0Error as error:
            errors.append(error)
        else:
            targets.append(request.target)
    return ([replace(requests[0], target=union(targets))] if targets else []), errors


def apply(
    store: Store,
    request: AnyRequest[Any, Any],
    *,
    actor: str,
    note: str | None,
    now: float,
    seen: int | None = None,
) -> Plan:
    """Make the plan again and carry it out, in one transaction, and record who did it and why.

    With `seen`, from an earlier plan or `audit.latest`, it is refused if others have changed the
    same packages since.
    """
    action, by = request.action, Author(actor, note, now)
    request = action.meet(store, action.prepare(store, request, now), now)
    action = request.action
    if action.in_pieces:
        with store.reading():
            plan = _plan(store, request, now)
        plan = action.act(store, plan, by) or plan
        return action.follow(store, plan, now) or plan
    with store.writing():
        if isinstance(request.target, Selector):
            conflict.refuse_second(store, request, seen, now)
        request = _numbered(store, request)
        plan = _plan(store, request, now)
        if not plan.is_empty:
            plan = action.act(store, plan, by) or plan
            stage_order.open_stages(store, now=now)
            lifecycle.reopen_readers(store)
            lifecycle.keep_action(
                store, verb=action.name, target=str(request.target), actor=actor,
                note="; ".join(filter(None, (note, _options(request)))) or None,
                packages=plan.packages, now=now, undo=plan.undo,
            )  # fmt: skip
            continue_stages(store, now=now)
    return action.follow(store, plan, now) or plan


def _options(request: AnyRequest[Any, Any]) -> str:
    """Return what the history records of the options, those that select packages included."""
    target = request.target
    filters = target.arguments[len(target.parts) :] if isinstance(target, Selector) else []
    return " ".join(filter(None, (*filters, logged(request.options))))


def describe(plan: Plan) -> list[str]:
    """Return what the plan would do, one sentence per line."""
    return [clean(line) for line in plan.request.action.describe(plan)]


def report(plan: Plan) -> list[str]:
    """Return what was done, one sentence per line."""
    return [clean(line) for line in plan.request.action.report(plan)]


def _numbered(store: Store, request: AnyRequest[Any, Any]) -> AnyRequest[Any, Any]:
    """Return a request whose target has numbers, which the history keeps: what is last changes."""
    if not isinstance(request.target, Selector):
        return request
    return replace(request, target=located(store, request.target))


def _plan(store: Store, request: AnyRequest[Any, Any], now: float) -> Plan:
    action, request = request.action, _numbered(store, request)
    try:
        plan: Plan = action.plan(store, request, now)
    except Conflict as error:
        if error.entry is None:
            raise
        message = f"{error}; {conflict.sentence(error.entry, now)}"
        raise Conflict(message, hint=error.hint, instead=error.instead) from None
    return replace(plan, undo=action.undo(plan), seen=audit.latest(store))
