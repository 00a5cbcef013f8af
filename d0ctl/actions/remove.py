"""remove: forget whole jobs, with their history."""

from d0ctl.actions import files
from d0ctl.actions.plan import Plan, Request
from d0ctl.actions.selection import is_whole_job, jobs_of
from d0ctl.errors import BadUsage, Refused
from d0ctl.model import by_status
from d0ctl.store.connection import Store
from d0ctl.store.jobs import results
from d0ctl.store.jobs.removal import check_removal, remove_rows
from d0ctl.store.nodes.holder import holder
from d0ctl.store.views import browse


def plan_remove(store: Store, request: Request) -> Plan:
    """Whole jobs of which nothing runs."""
    if not is_whole_job(request.target):
        raise BadUsage(f"`{request.target.brief}` is not a whole job, and only jobs can be removed",
                       hint=f"d0ctl kill '{request.target.parts[0]}'")  # fmt: skip
    jobs = jobs_of(store, request.target)
    for job in jobs:
        live = by_status(job.counts)["launched"]
        if live:
            raise Refused(
                f"job `{job.name}` has {live} launched package{'s' if live > 1 else ''}, "
                "so it can't be removed",
                hint=f"d0ctl kill {job.name}",
            )
        check_removal(store, job.id, job.name)
    lost = files.only_copies(store, [job.name for job in jobs])
    delivered = sum(results.in_the_way(store.home, job.name) for job in jobs)
    return Plan(request, jobs=tuple(job.name for job in jobs), results=delivered,
                packages=sum(job.packages for job in jobs), files=lost.files, bytes=lost.bytes,
                weights=lost.largest)  # fmt: skip


def remove(store: Store, plan: Plan, actor: str, note: str | None, now: float) -> None:
    """Take the jobs out of sight; from here on a crash ends in their removal."""
    for name in plan.jobs:
        job = browse.job(store, name)
        store.change("hide_job", job=job.id, holder=holder())


def remove_now(store: Store, plan: Plan, now: float) -> None:
    """Remove the results and the rows of jobs that are out of sight, by short transactions."""
    for name in plan.jobs:
        for row in store.rows("hidden_jobs"):
            if row["name"] == name:
                if plan.request.keep_results:
                    results.move_aside(store.home, name)
                else:
                    results.remove(store.home, name, row["id"])
                remove_rows(store, row["id"], now=now)
