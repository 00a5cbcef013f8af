"""Two people at once: what the one did is told to the other."""

import time

from d0ctl.actions.plan import Request
from d0ctl.errors import Refused
from d0ctl.select import brief
from d0ctl.store.connection import Store
from d0ctl.store.jobs import audit
from d0ctl.store.jobs.audit import Deed
from d0ctl.store.views import browse
from d0ctl.units import moment

PAST = {
    "hold": "held", "release": "released", "pause": "paused", "resume": "resumed",
    "retry": "retried", "kill": "killed", "kill-line": "killed", "restore-line": "restored",
    "finish": "finished", "priority": "gave another priority to", "set-status": "set",
    "remove": "removed", "file purge": "purged",
    "file set-disposition": "set the disposition of",
    "require": "left out a part of", "submit": "submitted",
}  # fmt: skip
"""What people say of a verb that was done."""

FAMILIES = (("hold", "release", "finish", "remove"), ("pause", "resume", "finish", "remove"),
            ("finish", "retry", "remove"), ("priority", "remove"))  # fmt: skip
"""Verbs that are in each other's way when they are meant for whole jobs."""

_BY_FLAG = frozenset(verb for family in FAMILIES for verb in family) - {"retry"}


def told(deed: Deed, now: float | None = None) -> str:
    """Who did what, when and why, as a part of a sentence."""
    at = moment(deed.at, time.time() if now is None else now)
    why = f" ({deed.note})" if deed.note else ""
    return f"{deed.actor} {PAST.get(deed.verb, deed.verb)} `{brief(deed.target)}` at {at}{why}"


def last_on_chosen(store: Store) -> str:
    """`: ` and who last did something to the chosen packages; empty where nobody has."""
    deed = audit.last(store)
    return f": {told(deed)}" if deed else ""


def refuse_second(store: Store, request: Request, seen: int | None) -> None:
    """Raise Refused where somebody was faster: what was seen is not so any more.

    Whole jobs that are changed by a flag are in the way of such verbs only, all else of what
    was done to any of the packages that are meant.
    """
    if seen is None or audit.latest(store) == seen:
        return
    target = request.target
    if target.names_jobs and request.verb in _BY_FLAG:
        deed = _on_jobs(store, request, seen)
    else:
        browse.choose(store, target, now=time.time())
        deed = audit.since(store, seen)
    if deed is not None:
        raise Refused(f"{told(deed)}, after you had looked, so nothing was done",
                      hint=f"d0ctl status '{target.parts[0]}'")  # fmt: skip


def _on_jobs(store: Store, request: Request, seen: int) -> Deed | None:
    verbs = {verb for family in FAMILIES if request.verb in family for verb in family}
    found = (
        audit.on_job_since(store, job.name, sorted(verbs), seen)
        for part in request.target.parts
        for job in browse.jobs(store, part.job)
    )
    return next((deed for deed in found if deed), None)
