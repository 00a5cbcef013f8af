"""The list of all jobs, and the obstacles that stop them."""

from collections.abc import Iterable, Sequence

from d0ctl.model import by_status
from d0ctl.schedule.standstill import Cause
from d0ctl.show.drawing import signs
from d0ctl.show.drawing.sheet import Cell, Sheet
from d0ctl.show.why.production import Obstacle, job_obstacles, obstacles
from d0ctl.store.nodes.standstill import Production
from d0ctl.store.views.shapes import JobSummary
from d0ctl.units import count, duration

MOST_OBSTACLES = 5
"""How many obstacles of single jobs are shown under the list."""

BAR = 16
"""How many columns the bar of a job takes."""

NO_JOBS = "no jobs yet: try `d0ctl run FILE`"


def draw(sheet: Sheet, jobs: Sequence[JobSummary], production: Production, now: float) -> None:
    """Draw what stops production, a line per job, and what stops single jobs."""
    if not jobs:
        sheet.say(NO_JOBS)
        return
    stop(sheet, obstacles(production, now))
    causes = {job.name: job.standing.cause for job in production.jobs}
    rows: list[list[Cell]] = []
    for job in jobs:
        done = by_status(job.counts)["successful"]
        rows.append([
            (job.name, "strong"),
            signs.mark(state(job, causes.get(job.name)), sheet.glyphs),
            signs.bar(job.counts, BAR, sheet.glyphs),
            f"{count(done)}/{count(job.packages)}",
            (duration((job.ended or now) - job.submitted), "faint"),
            signs.tally_text(job.counts, blocked=job.blocked),
        ])  # fmt: skip
    sheet.table(rows, right=(3,), indent=0)
    found = list(job_obstacles(production).values())[:MOST_OBSTACLES]
    if found:
        sheet.add()
    for one in found:
        sheet.say(one.text, "warn")


def stop(sheet: Sheet, found: Iterable[Obstacle]) -> None:
    """Add what stops all jobs, with the commands that help, above everything else."""
    for one in found:
        text = f" {one.text}: {'; '.join(one.commands)}"
        sheet.add(signs.glyph("failed", sheet.glyphs), (text, "bad"))
    if sheet.lines:
        sheet.add()


def state(job: JobSummary, cause: Cause | None) -> str:
    """Return the word for the state of a job, which names what stops it."""
    if job.ended is None and job.hold:
        return "held"
    if job.ended is None and job.pause:
        return "paused"
    return "stands still" if cause is not None else job.status
