"""When each active job ends, one per line."""

from msgspec import Struct

from d0ctl.model import by_status
from d0ctl.schedule.estimates import Range
from d0ctl.schedule.horizon import Horizon
from d0ctl.show.cards.jobs import STOPPED, state
from d0ctl.show.drawing.sheet import Cell, Sheet
from d0ctl.show.forecast.estimates import UNDRIVEN, end_without, verdict
from d0ctl.store.connection import Store
from d0ctl.store.nodes.standstill import production
from d0ctl.store.views import browse
from d0ctl.store.views.job_files.eta import at, horizon
from d0ctl.store.views.shapes import JobSummary
from d0ctl.units import count

NONE_ACTIVE = "no job is active"


class JobEnd(Struct, frozen=True):
    """When a job ends, as far as that is known."""

    job: JobSummary
    state: str
    """The word for its state, as `status` has it."""
    said: str
    """When it ends, or why nobody knows."""
    end: Range | None = None
    nodes_down: tuple[str, ...] = ()
    """The nodes that are down and have files that it waits for."""


def job_ends(store: Store, now: float) -> list[JobEnd]:
    """Return when each job ends that has not ended, the newest first."""
    active = [
        job for job in browse.jobs(store) if job.ended is None and (job.is_open or job.blocked)
    ]
    if not active:
        return []
    of, all_jobs = horizon(store, now=now), production(store, now=now)
    causes = {job.name: job.standing.cause for job in all_jobs.jobs}
    return [
        _job_end(store, of, job, state(job, causes.get(job.name)), now, driven=all_jobs.driven)
        for job in active
    ]


def _job_end(
    store: Store, of: Horizon, job: JobSummary, word: str, now: float, *, driven: bool
) -> JobEnd:
    nodes_down, left = tuple(of.nodes_down(job.id)), of.jobs.get(job.id)
    if word in STOPPED or job.blocked or left is None:
        return JobEnd(job, word, word, nodes_down=nodes_down)
    if not driven:
        return JobEnd(job, word, UNDRIVEN, nodes_down=nodes_down)
    if (interval := of.end(job.id)) is not None:
        end = at(interval, now)
        return JobEnd(job, word, end_without(end, left.stuck, now), end, nodes_down)
    names = {stage.seq: stage.name for stage in browse.stages(store, job)}
    return JobEnd(job, word, verdict(of, job.id, left, None, names, now), None, nodes_down)


def draw(sheet: Sheet, ends: list[JobEnd]) -> None:
    """Draw a line for each job: its name, how many of its packages are done, and its end."""
    if not ends:
        sheet.say(NONE_ACTIVE)
    rows: list[list[Cell]] = [
        [(each.job.name, "strong"),
         f"{count(by_status(each.job.counts)['successful'])}/{count(each.job.packages)}",
         each.said]
        for each in ends
    ]  # fmt: skip
    sheet.table(rows, right=(1,), indent=0)
