"""Two people at once: what the one did is told to the other."""

import time

from d0ctl.errors import Refused
from d0ctl.format import moment
from d0ctl.store import actions
from d0ctl.store.actions import Deed
from d0ctl.store.connection import Store
from d0ctl.verbs.plan import Plan

PAST = {
    "hold": "held", "release": "released", "pause": "paused", "resume": "resumed",
    "retry": "retried", "kill": "killed", "kill-line": "killed", "restore-line": "restored",
    "finish": "finished", "priority": "gave another priority to", "set-status": "set",
    "remove": "removed", "require": "left out a part of", "submit": "submitted",
}  # fmt: skip
"""What people say of a verb that was done."""

FAMILIES = (("hold", "release", "finish", "remove"), ("pause", "resume", "finish", "remove"),
            ("finish", "retry", "remove"), ("priority", "remove"))  # fmt: skip
"""Verbs that are in each other's way when they are meant for whole jobs."""


def told(deed: Deed, now: float | None = None) -> str:
    """Who did what, when and why, as a part of a sentence."""
    at = moment(deed.at, time.time() if now is None else now)
    why = f" ({deed.note})" if deed.note else ""
    return f"{deed.actor} {PAST.get(deed.verb, deed.verb)} `{deed.target}` at {at}{why}"


def last_on_chosen(store: Store) -> str:
    """`: ` and who last did something to the chosen packages; empty where nobody has."""
    deed = actions.last(store)
    return f": {told(deed)}" if deed else ""


def refuse_second(store: Store, plan: Plan, seen: int | None) -> None:
    """Raise Refused where somebody was faster: what was seen is not so any more."""
    if seen is None:
        return
    deed = _on_jobs(store, plan, seen) if plan.by_flag else actions.since(store, seen)
    if deed is not None:
        raise Refused(
            f"{told(deed)}, after you had looked, so nothing was done",
            hint=f"d0ctl status '{plan.request.target}'",
        )


def _on_jobs(store: Store, plan: Plan, seen: int) -> Deed | None:
    verbs = {verb for family in FAMILIES if plan.request.verb in family for verb in family}
    found = (actions.on_job_since(store, job, sorted(verbs), seen) for job in plan.jobs)
    return next((deed for deed in found if deed), None)
