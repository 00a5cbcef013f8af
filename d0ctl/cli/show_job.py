"""The screen of one job: its stages, what runs where, what failed and why, what to type next."""

from collections.abc import Callable
from dataclasses import dataclass

from d0ctl.cli import documents, show_jobs, show_part
from d0ctl.cli.terminal.output import bar, emit, emit_json, mark, paint, table, tally
from d0ctl.model import STATUS_OF, Phase, Status, by_status
from d0ctl.schedule.standstill import Standing
from d0ctl.select import parse
from d0ctl.show.why.common import blocked
from d0ctl.show.why.production import job_obstacles, obstacles
from d0ctl.store.attempts import node_record
from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes import standstill
from d0ctl.store.nodes.standstill import Production
from d0ctl.store.views import browse
from d0ctl.store.views.left_out import Shortfall, short_packages
from d0ctl.store.views.shapes import FailureView, JobSummary, PackageRow, StageSummary
from d0ctl.units import clean, count, duration, listed, moment

LIVE = tuple(phase for phase, status in STATUS_OF.items() if status is Status.LAUNCHED)

MOST_LIVE = 8
MOST_FAILED = 3
MOST_HELD = 3


@dataclass(frozen=True, slots=True)
class Picture:
    """All that the screen of a job shows, read at one moment."""

    job: JobSummary
    stages: list[StageSummary]
    dropped: int
    live: list[PackageRow]
    where: dict[str, int]
    failed: list[FailureView]
    held: list[PackageRow]
    troubles: list[str]
    short: list[Shortfall]
    excluded: list[Row]
    site: Production
    advice: list[str]
    now: float

    @property
    def standing(self) -> Standing:
        """Whether it moves, and what stops it."""
        found = (job.standing for job in self.site.jobs if job.id == self.job.id)
        return next(found, Standing(False))


def drawing(store: Store, job: JobSummary, json: bool, now: float) -> Callable[[], None]:
    """Read the job; what is returned prints it."""
    dropped = browse.dropped_lines(store, job.id)
    picture = Picture(
        job=job,
        stages=browse.stages(store, job),
        dropped=dropped,
        live=browse.in_phases(store, job.id, LIVE, MOST_LIVE),
        where=browse.where(store, job.id),
        failed=browse.failures(store, job.id, MOST_FAILED),
        held=browse.in_phases(store, job.id, [Phase.HELD, Phase.COOLOFF], MOST_HELD),
        troubles=browse.carrying_troubles(store, job.id),
        short=short_packages(store, job.id) if dropped else [],
        excluded=node_record.exclusions(store, job.id),
        site=standstill.production(store, now=now),
        advice=_advice(store, job),
        now=now,
    )
    if json:
        return lambda: emit_json(document(picture))
    return lambda: draw(picture)


def _advice(store: Store, job: JobSummary) -> list[str]:
    """What to type about its last failure, or about all that failed for the same reason."""
    failed = browse.failures(store, job.id, MOST_FAILED)
    if not failed:
        return []
    from d0ctl.show.why.advice import advice, for_alike

    path, reason = failed[0].path, failed[0].reason
    if job.counts.get("failed", 0) > 1 and reason:
        alike = [one.path for one in failed if one.reason == reason]
        found = for_alike(store, f"{job.name}:failed", alike, reason)
        return [] if found.options is None else [f"d0ctl retry{found.options}"]
    one = browse.package(store, parse(path))
    found = advice(store, one, browse.attempts(store, one.id)[-1])
    told = [] if found.options is None else [f"d0ctl retry {path}{found.options}"]
    if one.line_dropped is None:
        told.append(f"d0ctl kill-line {path.rpartition('/')[0]} --drop-outputs")
    return told


def document(picture: Picture) -> documents.Document:
    """The job as JSON."""
    return {
        **documents.job(picture.job),
        "dropped": picture.dropped,
        "left_out": [documents.shortfall(one) for one in picture.short],
        "stages": [documents.stage(stage) for stage in picture.stages],
        "nodes": picture.where,
        "running": [documents.package_row(row) for row in picture.live],
        "failed": [documents.failure(one) for one in picture.failed],
        "excluded": [documents.exclusion(row) for row in picture.excluded],
    }


def draw(picture: Picture) -> None:
    """Print the screen."""
    _head(picture)
    emit()
    _stages(picture.stages)
    _live(picture)
    _failed(picture)
    _stuck(picture)
    _next(picture)


def _head(picture: Picture) -> None:
    job, now = picture.job, picture.now
    totals = by_status(job.counts)
    if job.ended is None:
        show_jobs.stop(obstacles(picture.site, now))
    emit(f"{paint(clean(job.name), 'strong')}  {clean(job.title)}".rstrip())
    length = duration((job.ended or now) - job.submitted)
    parts = [
        mark(show_jobs.state(job, picture.standing.cause)),
        f"{count(totals['successful'])} of {count(job.packages, 'package')} done",
        *([f"{count(picture.dropped, 'line')} dropped"] if picture.dropped else []),
        f"took {length}" if job.ended else f"{length} so far",
        f"submitted {moment(job.submitted, now)} by {clean(job.originator)}",
    ]
    emit(" · ".join(parts))
    if job.hold:
        why = f": {clean(job.hold_note)}" if job.hold_note else ""
        by = f"held by {clean(job.hold_actor or '?')} since {moment(job.hold_since, now)}{why}"
        emit(paint(by, "warn"))
    if job.pause:
        why = f": {clean(job.pause_note)}" if job.pause_note else ""
        by = f"{clean(job.pause_actor or '?')} since {moment(job.pause_since, now)}{why}"
        emit(paint(f"paused by {by}", "warn"))
    if job.finish and not job.ended:
        by = f"{clean(job.finish_actor or '?')} since {moment(job.finish_since, now)}"
        emit(paint(f"being finished ({job.finish}) by {by}", "warn"))
    for one in picture.short:
        emit(f"{clean(one.path)} goes with {clean(one.sentence())}")
    _excluded(picture.excluded)


def _excluded(rows: list[Row]) -> None:
    if not rows:
        return
    from d0ctl.show.why.node_pauses import excluded

    for row in rows:
        emit(paint(clean(excluded(row)), "warn"))


def _stages(stages: list[StageSummary]) -> None:
    rows = [
        [
            paint(str(stage.seq), "strong"),
            clean(stage.name),
            mark(stage.status),
            bar(stage.counts),
            f"{count(by_status(stage.counts)['successful'])}/{count(sum(stage.counts.values()))}",
            paint(count(stage.lines, "line"), "faint"),
            tally(stage.counts, stage.blocked),
        ]
        for stage in stages
    ]
    table(rows, right=(4,), indent="  ")


def _live(picture: Picture) -> None:
    if not picture.live:
        return
    places = listed(f"{count(n)} on {clean(node)}" for node, n in list(picture.where.items())[:8])
    silent, totals = picture.job.counts.get("unreachable", 0), by_status(picture.job.counts)
    emit()
    if totals["launched"] > silent:
        emit(paint("running", "strong") + (f"  {places}" if picture.where else ""))
    else:
        emit(paint("unreachable", "strong"))
    show_part.package_table(picture.live, picture.now)
    if totals["launched"] > len(picture.live):
        more = count(totals["launched"] - len(picture.live))
        emit(paint(f"  and {more} more: d0ctl status {picture.job.name}:launched", "faint"))


def _failed(picture: Picture) -> None:
    if not picture.failed:
        return
    emit()
    emit(paint("failed last", "strong"))
    for one in picture.failed:
        show_part.failure(one, picture.now)
    total = picture.job.counts.get("failed", 0)
    if total > len(picture.failed):
        more = count(total - len(picture.failed))
        emit(paint(f"  and {more} more: d0ctl history {picture.job.name}", "faint"))


def _stuck(picture: Picture) -> None:
    """What is held, cools off, is blocked or can't be carried."""
    job = picture.job
    stopped = job_obstacles(picture.site).get(job.name)
    if not (picture.held or job.blocked or picture.troubles or stopped):
        return
    emit()
    emit(paint("not moving", "strong"))
    show_part.package_table(picture.held, picture.now)
    aside = job.counts.get("held", 0) + job.counts.get("cooloff", 0) - len(picture.held)
    if aside > 0:
        emit(paint(f"  and {count(aside)} more: d0ctl status {job.name}:held,cooloff", "faint"))
    if job.blocked:
        emit(f"  {blocked(job.counts['waiting'])}")
    if stopped:
        emit(f"  {clean(stopped.text)}")
    for trouble in picture.troubles:
        emit(f"  {clean(trouble)}")


def _next(picture: Picture) -> None:
    commands = list(_commands(picture))
    emit()
    emit(paint("    ".join(commands), "faint"))


def _commands(picture: Picture) -> list[str]:
    job = picture.job
    if picture.failed:
        return [f"d0ctl why {job.name}", *picture.advice]
    if job.hold:
        return [f"d0ctl release {job.name}"]
    if job.pause:
        return [f"d0ctl resume {job.name}"]
    if picture.held:
        verb, phase = ("release", "held") if job.counts.get("held") else ("retry", "cooloff")
        return [f"d0ctl why {picture.held[0].path}", f"d0ctl {verb} '{job.name}:{phase}'"]
    if picture.live:
        return [f"d0ctl status {job.name} --watch", f"d0ctl why {picture.live[0].path}"]
    if job.blocked:
        return [f"d0ctl why {job.name}", f"d0ctl history {job.name}"]
    if job.status == "successful":
        return [f"d0ctl history {job.name}", f"d0ctl remove {job.name}"]
    if job.status == "canceled" and job.counts.get("canceled"):
        return [f"d0ctl why {job.name}", f"d0ctl retry '{job.name}:canceled'"]
    return [f"d0ctl why {job.name}", f"d0ctl status {job.name} --watch"]
