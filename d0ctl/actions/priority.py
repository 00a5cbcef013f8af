"""priority: which of the jobs come first."""

from d0ctl.actions.plan import Plan, Request
from d0ctl.actions.selection import is_whole_job, jobs_of
from d0ctl.errors import BadUsage, Refused
from d0ctl.model import by_status
from d0ctl.store.connection import Store
from d0ctl.store.views import browse


def plan_priority(store: Store, request: Request) -> Plan:
    """Whole jobs that have another priority now."""
    number = request.priority
    if number is None or not 0 <= number <= 100:
        raise BadUsage(f"a priority is a number from 0 to 100, not {number}")
    if not is_whole_job(request.target):
        raise BadUsage(f"`{request.target.brief}` is not a job, and only jobs have a priority",
                       hint=f"d0ctl priority {request.target.job} {number}")  # fmt: skip
    jobs = jobs_of(store, request.target)
    other = [job for job in jobs if job.priority != number]
    if not other:
        raise Refused(f"`{request.target.brief}` has priority {number} already",
                      hint=f"d0ctl status {request.target.parts[0]}")  # fmt: skip
    idle = sum(by_status(job.counts)["unscheduled"] for job in other)
    return Plan(request, jobs=tuple(job.name for job in other), packages=idle)


def give_priority(store: Store, plan: Plan, actor: str, note: str | None, now: float) -> None:
    """Change the rows of the jobs; what is scheduled next follows it."""
    for name in plan.jobs:
        job = browse.job(store, name)
        store.change("set_priority", job=job.id, priority=plan.request.priority)
