"""pause and resume: park what is not launched, suspend the rest where asked for, and go on."""

import time
from collections import Counter
from collections.abc import Callable
from typing import TypeAlias

from d0ctl.actions.plan import MOST_SHOWN, Plan, Request
from d0ctl.actions.selection import (
    HOLDABLE,
    has_ended,
    is_whole_job,
    jobs_of,
    nothing_for,
    rows,
)
from d0ctl.errors import Refused
from d0ctl.model import Phase, by_status
from d0ctl.store.connection import Store
from d0ctl.store.views import browse
from d0ctl.store.views.shapes import JobSummary
from d0ctl.units import moment

SUSPENDABLE = frozenset({Phase.STARTING, Phase.STAGING_IN, Phase.RUNNING})


def plan_pause(store: Store, request: Request) -> Plan:
    """Whole jobs by their flag, parts of one by their packages."""
    if not is_whole_job(request.target):
        return _of_part(store, request, _can_pause, "paused")
    jobs = jobs_of(store, request.target)
    free = [job for job in jobs if not has_ended(job) and _adds(job, request)]
    if not free:
        raise _not_pausable(jobs, request)
    launched = sum(sum(job.counts.get(phase, 0) for phase in SUSPENDABLE) for job in free)
    return Plan(
        request,
        jobs=tuple(job.name for job in free),
        packages=sum(_idle(job) for job in free),
        launched=launched if request.running else 0,
    )


def plan_resume(store: Store, request: Request) -> Plan:
    """What is paused as a whole, or what of a part was paused by itself."""
    if not is_whole_job(request.target):
        return _of_part(store, request, _can_resume, "resumed")
    jobs = jobs_of(store, request.target)
    paused = [job for job in jobs if job.pause]
    if not paused:
        hint = f"d0ctl status '{request.target.parts[0]}:held'"
        if any(job.hold for job in jobs):
            hint = f"it is held: d0ctl release {request.target.parts[0]}"
        raise Refused(f"`{request.target.brief}` is not paused as a whole, so it can't be resumed",
                      hint=hint)  # fmt: skip
    return Plan(
        request,
        jobs=tuple(job.name for job in paused),
        packages=sum(_idle(job) for job in paused),
        launched=sum(job.counts.get("suspended", 0) for job in paused),
    )


def _adds(job: JobSummary, request: Request) -> bool:
    return not job.pause or (request.running and not job.pause_running)


def _idle(job: JobSummary) -> int:
    totals = by_status(job.counts)
    return totals["unscheduled"] + totals["scheduled"]


def _not_pausable(jobs: list[JobSummary], request: Request) -> Refused:
    if len(jobs) > 1:
        return Refused(f"no job of `{request.target.brief}` can be paused", hint="d0ctl status")
    job = jobs[0]
    if has_ended(job):
        return Refused(f"job `{job.name}` is {job.status}, so it can't be paused",
                       hint=f"d0ctl status {job.name}")  # fmt: skip
    why = f" ({job.pause_note})" if job.pause_note else ""
    return Refused(
        f"job `{job.name}` was paused by {job.pause_actor} at "
        f"{moment(job.pause_since, time.time())}{why}, so it can't be paused again",
        hint=f"d0ctl resume {job.name}",
    )


_Able: TypeAlias = Callable[[Request, str, bool, bool], bool]
"""Whether a verb applies, by phase, whether pause holds it, and whether it is asked to pause."""


def _can_pause(request: Request, phase: str, parked: bool, asked: bool) -> bool:
    return phase in HOLDABLE or (request.running and phase in SUSPENDABLE and not asked)


def _can_resume(request: Request, phase: str, parked: bool, asked: bool) -> bool:
    held = phase == Phase.HELD and parked
    return held or phase == Phase.SUSPENDED or (phase in SUSPENDABLE and asked)


def _of_part(store: Store, request: Request, able: _Able, past: str) -> Plan:
    browse.choose(store, request.target, now=time.time())
    changed: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    for row in store.rows("chosen_pausable"):
        applies = able(request, row["phase"], bool(row["parked"]), bool(row["asked"]))
        (changed if applies else kept)[row["phase"]] += row["n"]
    if not changed:
        raise nothing_for(store, request.target, kept, past)
    return Plan(
        request,
        phases=dict(changed),
        packages=changed.total(),
        kept=dict(kept),
        changes=tuple(row for row in rows(store) if row.phase in changed)[:MOST_SHOWN],
        launched=sum(n for phase, n in changed.items() if phase in SUSPENDABLE),
    )


def pause(store: Store, plan: Plan, actor: str, note: str | None, now: float) -> None:
    """Set the flags or park the chosen packages, and ask what runs to stop where that is meant."""
    deed = {"actor": actor, "note": note, "now": now}
    if plan.jobs:
        store.change("clear_chosen")
    else:
        store.change("park_packages", **deed)
    for name in plan.jobs:
        job = browse.job(store, name).id
        store.change("pause_job", job=job, running=int(plan.request.running), **deed)
        store.change("unassign_job", job=job, **deed)
        store.change("choose_launched", job=job)
    if plan.request.running:
        store.change("ask_to_pause", **deed)


def resume(store: Store, plan: Plan, actor: str, note: str | None, now: float) -> None:
    """Take the flags back or let the parked packages go, and ask what was stopped to go on."""
    deed = {"actor": actor, "note": note, "now": now}
    if plan.jobs:
        store.change("clear_chosen")
    else:
        store.change("unpark_packages", **deed)
        store.change("reopen_jobs")
    for name in plan.jobs:
        job = browse.job(store, name).id
        store.change("resume_job", job=job)
        store.change("choose_launched", job=job)
    store.change("ask_to_resume", **deed)
