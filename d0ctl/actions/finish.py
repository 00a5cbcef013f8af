"""finish: start no more packages; let running ones end (soft) or end them (hard) (JEDI)."""

import time

from d0ctl.actions.kill import with_grace
from d0ctl.actions.plan import Plan, Request
from d0ctl.actions.selection import (
    HOLDABLE,
    KILLABLE,
    LIVE,
    has_ended,
    is_whole_job,
    jobs_of,
    of_packages,
)
from d0ctl.errors import Refused
from d0ctl.model import Phase
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.jobs.finish import sweep_all
from d0ctl.store.views import browse
from d0ctl.store.views.shapes import JobSummary
from d0ctl.units import moment

IDLE = HOLDABLE | {Phase.HELD}


def plan_finish(store: Store, request: Request) -> Plan:
    """Whole jobs by their flag, parts of one by their packages."""
    if not is_whole_job(request.target):
        able = KILLABLE if request.hard else IDLE
        hastens = request.hard and not request.partial
        return with_grace(store, of_packages(store, request, able, "finished", hastens=hastens))
    jobs = jobs_of(store, request.target)
    free = [job for job in jobs if not has_ended(job) and _goes_beyond(job, request)]
    if not free:
        raise _not_finishable(jobs, request)
    launched = sum(sum(job.counts.get(phase, 0) for phase in LIVE) for job in free)
    idle = sum(sum(job.counts.get(phase, 0) for phase in IDLE) for job in free)
    plan = Plan(request, jobs=tuple(job.name for job in free), packages=idle, launched=launched)
    return with_grace(store, plan)


def _goes_beyond(job: JobSummary, request: Request) -> bool:
    if job.finish is None or (request.hard and job.finish == "soft"):
        return True
    return request.hard and not request.partial and job.counts.get(Phase.KILLING, 0) > 0


def _not_finishable(jobs: list[JobSummary], request: Request) -> Refused:
    if len(jobs) > 1:
        return Refused(f"no job of `{request.target.brief}` can be finished", hint="d0ctl status")
    job = jobs[0]
    if has_ended(job):
        return Refused(f"job `{job.name}` is {job.status}, so it can't be finished",
                       hint=f"d0ctl status {job.name}")  # fmt: skip
    hint = "" if request.hard else f"d0ctl finish {job.name} --hard ends what runs"
    return Refused(
        f"job `{job.name}` is being finished since {moment(job.finish_since, time.time())}, "
        f"as {job.finish_actor} asked",
        hint=hint or f"d0ctl status {job.name}",
    )


def finish(store: Store, plan: Plan, actor: str, note: str | None, now: float) -> None:
    """Set the flags and end what runs where that is meant; or end the chosen packages."""
    told = note or f"finished by {actor}"
    if plan.jobs:
        _set_flags(store, plan, actor, note, now)
    if plan.request.hard:
        lifecycle.kill(store, actor=actor, note=told, now=now, partial=plan.request.partial)
    elif not plan.jobs:
        lifecycle.cancel_idle(store, actor=actor, note=told, now=now)


def _set_flags(store: Store, plan: Plan, actor: str, note: str | None, now: float) -> None:
    """Mark the jobs, and choose what of them runs."""
    store.change("clear_chosen")
    how = "hard" if plan.request.hard else "soft"
    for name in plan.jobs:
        job = browse.job(store, name).id
        store.change("finish_job", job=job, how=how, actor=actor, note=note, now=now)
        store.change("choose_launched", job=job)


def finish_now(store: Store, plan: Plan, now: float) -> None:
    """Cancel what is left of the jobs, by short transactions."""
    if plan.jobs:
        sweep_all(store)
