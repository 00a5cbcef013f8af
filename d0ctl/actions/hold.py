"""hold and release: keep jobs or packages from being scheduled, and allow it again."""

from d0ctl.actions.plan import Plan, Request
from d0ctl.actions.selection import HOLDABLE, has_ended, is_whole_job, jobs_of, of_packages
from d0ctl.errors import Refused
from d0ctl.model import Phase, by_status
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.views import browse
from d0ctl.store.views.shapes import JobSummary
from d0ctl.units import count


def plan_hold(store: Store, request: Request) -> Plan:
    """Whole jobs by their flag, parts of one by their packages."""
    if not is_whole_job(request.target):
        return of_packages(store, request, HOLDABLE, "held")
    jobs = jobs_of(store, request.target)
    free = [job for job in jobs if not job.hold and not has_ended(job)]
    if not free and len(jobs) == 1:
        job = jobs[0]
        if job.hold:
            by = f" by {job.hold_actor}" + (f" ({job.hold_note})" if job.hold_note else "")
            raise Refused(f"job `{job.name}` is held{by}, so it can't be held again",
                          hint=f"d0ctl release {job.name}")  # fmt: skip
        raise Refused(f"job `{job.name}` is {job.status}, so it can't be held",
                      hint=f"d0ctl status {job.name}")  # fmt: skip
    return _flag_plan(request, free, "held")


def plan_release(store: Store, request: Request) -> Plan:
    """What is held as a whole, or the held packages of a part."""
    if not is_whole_job(request.target):
        return of_packages(store, request, frozenset({Phase.HELD}), "released")
    jobs = jobs_of(store, request.target)
    held = [job for job in jobs if job.hold]
    if not held and len(jobs) == 1:
        job = jobs[0]
        parts = job.counts.get("held", 0)
        some = count(parts, "package is", "packages are")
        hint = f"{some} held: `d0ctl release '{job.name}:held'`" if parts else (
            f"d0ctl why {job.name}")  # fmt: skip
        raise Refused(f"job `{job.name}` is not held as a whole, so it can't be released",
                      hint=hint)  # fmt: skip
    return _flag_plan(request, held, "released")


def _flag_plan(request: Request, jobs: list[JobSummary], past: str) -> Plan:
    if not jobs:
        raise Refused(f"no job of `{request.target.brief}` can be {past}")
    idle = sum(by_status(job.counts)["unscheduled"] for job in jobs)
    return Plan(request, jobs=tuple(job.name for job in jobs), packages=idle)


def hold(store: Store, plan: Plan, actor: str, note: str | None, now: float) -> None:
    """Set the flags, or hold the chosen packages."""
    for name in plan.jobs:
        lifecycle.hold_job(store, browse.job(store, name).id, actor=actor, note=note, now=now)
    if not plan.jobs:
        lifecycle.hold(store, actor=actor, note=note, now=now)


def release(store: Store, plan: Plan, actor: str, note: str | None, now: float) -> None:
    """Take the flags back, or let the chosen packages go."""
    for name in plan.jobs:
        lifecycle.release_job(store, browse.job(store, name).id)
    if not plan.jobs:
        lifecycle.release(store, actor=actor, note=note, now=now)
        store.change("reopen_jobs")
