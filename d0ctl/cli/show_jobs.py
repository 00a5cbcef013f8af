"""The screen of all jobs."""

from collections.abc import Callable

from d0ctl.cli import documents
from d0ctl.cli.output import bar, emit, emit_json, mark, paint, table, tally
from d0ctl.format import clean, count, duration
from d0ctl.model import by_status
from d0ctl.store.connection import Store
from d0ctl.store.look import browse
from d0ctl.store.look.views import JobSummary


def drawing(store: Store, pattern: str, json: bool, now: float) -> Callable[[], None]:
    """Read the jobs; what is returned prints them."""
    jobs = browse.jobs(store, pattern)
    if not jobs and pattern != "*":
        raise browse.no_such_job(store, pattern)
    if json:
        return lambda: emit_json({"jobs": [documents.job(job) for job in jobs]})
    return lambda: draw(jobs, now)


def draw(jobs: list[JobSummary], now: float) -> None:
    """Print a line for each job."""
    if not jobs:
        emit("no jobs yet: try `d0ctl run FILE`")
        return
    table([_row(job, now) for job in jobs], right=(3,))
    emit()
    emit(paint(f"d0ctl status {jobs[0].name}    d0ctl why {jobs[0].name}", "dim"))


def _row(job: JobSummary, now: float) -> list[str]:
    done = by_status(job.counts)["successful"]
    return [
        paint(clean(job.name), "bold"),
        mark("held" if job.hold and job.ended is None else job.status),
        bar(job.counts, 16),
        f"{count(done)}/{count(job.packages)}",
        paint(duration((job.ended or now) - job.submitted), "dim"),
        tally(job.counts, job.blocked),
    ]
