"""set-status: a status given by hand, where the world allows it (`000` section 5)."""

from collections.abc import Mapping

from d0ctl.errors import BadUsage, Refused
from d0ctl.model import Phase, Status
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.jobs import retry
from d0ctl.verbs.choice import HOLDABLE, of_packages
from d0ctl.verbs.plan import Plan, Request

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
        _check_outputs(store, request)
    return plan


def _check_outputs(store: Store, request: Request) -> None:
    retry.keep_phases(store, FROM[Status.SUCCESSFUL])
    lacking = store.rows("lacking_outputs")
    if lacking:
        more = f" and {len(lacking) - 1} more like that" if len(lacking) > 1 else ""
        raise Refused(
            f"file `{lacking[0]['name']}` of `{request.target.brief}` is not there{more}, "
            "so it can't be set successful",
            hint=f"d0ctl retry '{request.target.parts[0]}' makes it",
        )


def set_status(store: Store, plan: Plan, actor: str, note: str | None, now: float) -> None:
    """Give the chosen packages the status."""
    told = note or f"set {plan.request.status} by {actor}"
    status = plan.request.status or ""
    retry.keep_phases(store, FROM[status])
    if status == Status.SUCCESSFUL:
        store.change("set_successful", actor=actor, note=told, now=now)
        store.change("release_packages", now=now)
        store.change("reopen_jobs")
    elif status == Status.FAILED:
        store.change("set_failed", actor=actor, note=told, now=now)
        store.change("end_given_up", message=told, now=now)
    elif status == Status.CANCELED:
        lifecycle.kill(store, actor=actor, note=told, now=now)
        store.change("cancel_failed_packages", actor=actor, now=now)
    else:
        retry.make_again(store, actor=actor, note=told, now=now)
        retry.retry(store, actor=actor, note=told, now=now)
