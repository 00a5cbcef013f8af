"""Two people at once: an action is refused if the other changed its packages since its plan."""

from shlex import quote
from typing import Any

from d0ctl.actions.action import Request
from d0ctl.actions.table import ACTIONS
from d0ctl.errors import Refused
from d0ctl.policy.remarks import own_words
from d0ctl.select import brief
from d0ctl.store.connection import Store
from d0ctl.store.jobs import audit
from d0ctl.store.jobs.audit import AuditEntry
from d0ctl.store.views import browse, selection
from d0ctl.units import moment

OTHER_PAST = {"require": "left out a part of", "group": "made lines of"}
"""The past tense of changes that are not in the table of actions."""


def sentence(entry: AuditEntry, now: float) -> str:
    """Return who did what, when and why, as a part of a sentence."""
    past = (
        ACTIONS[entry.verb].past
        if entry.verb in ACTIONS
        else OTHER_PAST.get(entry.verb, entry.verb)
    )
    past = past if isinstance(past, str) else past(entry)
    note, new = own_words(entry.note) or "", ""
    if entry.verb == "set-status":  # its argument is the end of what the history keeps
        reason, _, status = note.rpartition("; ")
        note, new = reason and f"reason: {reason}", f" to {status}"
    why = f" ({note})" if note else ""
    return f"{entry.actor} {past} `{brief(entry.target)}`{new} at {moment(entry.at, now)}{why}"


def refuse_second(store: Store, request: Request[Any], seen: int | None, now: float) -> None:
    """Raise Refused if an action since `seen` conflicts with a request.

    An action that changes a flag of whole jobs conflicts only with some actions on these jobs, any
    other with all changes of its packages.
    """
    if seen is None or audit.latest(store) == seen:
        return
    target = request.target
    if target.names_jobs and request.action.is_flag:
        entry = _on_jobs(store, request, seen)
    else:
        entry = audit.since(selection.choose(store, target, now=now), seen)
    if entry is not None:
        raise Refused(f"{sentence(entry, now)}, after the plan was made, so nothing was done",
                      hint=f"d0ctl status {quote(str(target.parts[0]))}")  # fmt: skip


def _on_jobs(store: Store, request: Request[Any], seen: int) -> AuditEntry | None:
    verbs = [name for name, action in ACTIONS.items() if request.action.conflicts_with(action)]
    found = (
        audit.on_job_since(store, job.name, verbs, seen)
        for part in request.target.parts
        for job in browse.jobs(store, part.job)
    )
    return next((entry for entry in found if entry), None)
