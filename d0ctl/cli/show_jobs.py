"""The screen of all jobs."""

from collections.abc import Callable

from d0ctl.cli import documents
from d0ctl.cli.terminal.output import bar, emit, emit_json, glyph, mark, paint, table, tally
from d0ctl.model import by_status
from d0ctl.schedule.standstill import Cause
from d0ctl.show.why.production import Obstacle, job_obstacles, obstacles
from d0ctl.store.connection import Store
from d0ctl.store.nodes import standstill
from d0ctl.store.nodes.standstill import Production
from d0ctl.store.views import browse
from d0ctl.store.views.shapes import JobSummary
from d0ctl.units import clean, count, duration

MOST_OBSTACLES = 5
"""How many jobs that something stops are named under the list."""


def drawing(store: Store, pattern: str, json: bool, now: float) -> Callable[[], None]:
    """Read the jobs; what is returned prints them."""
    jobs = browse.jobs(store, pattern)
    if not jobs and pattern != "*":
        raise browse.no_such_job(store, pattern)
    if json:
        return lambda: emit_json({"jobs": [documents.job(job) for job in jobs]})
    found = standstill.production(store, now=now)
    return lambda: draw(jobs, found, now)


def draw(jobs: list[JobSummary], found: Production, now: float) -> None:
    """Print what stops production, and a line for each job."""
    if not jobs:
        emit("no jobs yet: try `d0ctl run FILE`")
        return
    told = obstacles(found, now)
    stop(told)
    causes = {job.name: job.standing.cause for job in found.jobs}
    table([_row(job, causes.get(job.name), now) for job in jobs], right=(3,))
    emit()
    for one in list(job_obstacles(found).values())[:MOST_OBSTACLES]:
        emit(paint(clean(one.text), "warn"))
    emit(paint(f"d0ctl status {jobs[0].name}    d0ctl why {jobs[0].name}", "faint"))


def stop(told: list[Obstacle]) -> None:
    """Print what stops all jobs, with the commands that help, above everything else."""
    for one in told:
        emit(paint(f"{glyph('failed')} {clean(one.text)}: {'; '.join(one.commands)}", "bad"))
    if told:
        emit()


def state(job: JobSummary, cause: Cause | None) -> str:
    """The word for how a job stands, which names what stops it."""
    if job.ended is None and job.hold:
        return "held"
    if job.ended is None and job.pause:
        return "paused"
    return "stands still" if cause is not None else job.status


def _row(job: JobSummary, cause: Cause | None, now: float) -> list[str]:
    done = by_status(job.counts)["successful"]
    return [
        paint(clean(job.name), "strong"),
        mark(state(job, cause)),
        bar(job.counts, 16),
        f"{count(done)}/{count(job.packages)}",
        paint(duration((job.ended or now) - job.submitted), "faint"),
        tally(job.counts, job.blocked),
    ]
