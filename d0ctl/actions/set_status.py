"""set-status: set a status by hand, if the files allow it (D0 Job Definition, section 5)."""

from collections.abc import Mapping
from dataclasses import replace

from d0ctl.actions.plan import Plan, Request
from d0ctl.actions.selection import HOLDABLE, of_packages
from d0ctl.errors import BadUsage, Refused
from d0ctl.model import Phase, Status
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.jobs import accept, retry
from d0ctl.units import clean

FROM: Mapping[str, frozenset[Phase]] = {
    Status.UNSCHEDULED: frozenset({Phase.FAILED, Phase.CANCELED, Phase.DONE}),
    Status.SUCCESSFUL: frozenset({Phase.FAILED, Phase.CANCELED}),
    Status.FAILED: frozenset({Phase.UNREACHABLE}),
    Status.CANCELED: HOLDABLE | {Phase.HELD, Phase.FAILED, Phase.UNREACHABLE},
}
"""Which statuses can be given by hand, and to what."""


def plan_set_status(store: Store, request: Request) -> Plan:
    """The packages of the choice that can be given this status."""
    status = request.status or ""
    if status not in FROM:
        raise BadUsage(f"`{status}` can't be given by hand", hint=f"one of {', '.join(FROM)}")
    plan = of_packages(store, request, FROM[status], f"set {status}")
    if status == Status.SUCCESSFUL:
        return replace(plan, accepting=_count_to_accept(store, request))
    return plan


def _count_to_accept(store: Store, request: Request) -> int:
    """How many packages have outputs that only an attempt left; Refused if one is nowhere."""
    retry.keep_phases(store, FROM[Status.SUCCESSFUL])
    rows = accept.lacking(store)
    missing = [name for row in rows if (name := accept.missing_output(row)) is not None]
    if missing:
        more = f", and {len(missing) - 1} more packages lack one" if len(missing) > 1 else ""
        raise Refused(
            f"output `{clean(missing[0])}` of `{request.target.brief}` is not there{more}, "
            "so it can't be set successful",
            hint=f"d0ctl retry '{request.target.parts[0]}' makes it",
        )
    return len(rows)


def set_status(store: Store, plan: Plan, actor: str, note: str | None, now: float) -> None:
    """Give the chosen packages the status."""
    told = note or f"set {plan.request.status} by {actor}"
    status = plan.request.status or ""
    retry.keep_phases(store, FROM[status])
    if status == Status.SUCCESSFUL:
        accept.accept(store, accept.lacking(store), actor=actor, note=told, now=now)
        store.change("set_successful", actor=actor, note=told, now=now)
        store.change("release_packages", now=now)
        store.change("reopen_jobs")
        store.change("reopen_finished")
    elif status == Status.FAILED:
        store.change("set_failed", actor=actor, note=told, now=now)
        store.change("end_given_up", message=told, now=now)
    elif status == Status.CANCELED:
        lifecycle.kill(store, actor=actor, note=told, now=now)
        store.change("cancel_failed_packages", actor=actor, now=now)
    else:
        retry.make_again(store, actor=actor, note=told, now=now)
        retry.retry(store, actor=actor, note=told, now=now)
