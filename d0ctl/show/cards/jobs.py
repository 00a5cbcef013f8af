"""The list of all jobs, the obstacles that stop them, their limits and settings in words."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from d0ctl.model import Counts, Group, Phase, by_status
from d0ctl.schedule.horizon import NO_HORIZON, Horizon
from d0ctl.schedule.standstill import UNDRIVEN, Cause
from d0ctl.show.drawing import signs
from d0ctl.show.drawing.remark_texts import remark, until
from d0ctl.show.drawing.sheet import ENDLESS, Cell, Sheet, cell_width
from d0ctl.show.drawing.spans import Span
from d0ctl.show.why.production import Obstacle, blocked_jobs, job_obstacles, obstacles, undriven
from d0ctl.store.nodes.standstill import Production
from d0ctl.store.views.job_files.eta import at
from d0ctl.store.views.shapes import JobSettings, JobSummary, LineSummary, StageSummary
from d0ctl.units import count, duration, moment

MOST_OBSTACLES = 5
"""How many obstacles of single jobs are shown under the list."""

BAR, SHORTEST_BAR, LONGEST_BAR = 16, 8, 60
"""How many columns the bar of a job takes; on a terminal those that are left."""

WIDE = 100
"""From how many columns on there is room for the estimated ends of jobs."""

LEAST_TOTALED = 2
"""From how many jobs on that are active or have failures their numbers are added up."""

STANDS_STILL = "stands still"
"""The word for a job that something stops; a person only if the word is another."""

NEAREST = (Phase.ASSIGNED, Phase.READY, Phase.COOLOFF, Phase.HELD, Phase.WAITING)
"""The states of packages that are not launched, the nearest to running first."""

STOPPED = frozenset({"held", "paused", STANDS_STILL})
"""The states of jobs whose end nobody can estimate."""

NO_JOBS = "no jobs: try `d0ctl run FILE`"


def draw(
    sheet: Sheet,
    jobs: Sequence[JobSummary],
    production: Production,
    now: float,
    horizon: Horizon = NO_HORIZON,
    tasks: Mapping[int, str] = MappingProxyType({}),
) -> None:
    """Draw what stops production or single jobs, the numbers of all, and a line per job.

    `horizon` tells when jobs end, as far as known; `tasks` has the statuses of ended tasks by job.
    """
    if not jobs:
        copied = production.copied
        sheet.say(f"no jobs; {undriven(copied, now)}" if copied else NO_JOBS)
        return
    stop(sheet, obstacles(production, now))
    alone = {**job_obstacles(production, now), **blocked_jobs(production)}
    texts = [obstacle.text for obstacle in alone.values()]
    most_urgent = [*_held_by_d0ctl(jobs), *texts][:MOST_OBSTACLES]
    for text in most_urgent:
        sheet.say(text, "warn")
    if most_urgent:
        sheet.add()
    _totals(sheet, jobs, production, horizon)
    causes = {job.name: job.standing.cause for job in production.jobs}
    states = [tasks.get(job.id) or state(job, causes.get(job.name)) for job in jobs]
    rows = [_row(sheet, job, word, horizon, now, driven=production.driven)
            for job, word in zip(jobs, states, strict=True)]  # fmt: skip
    bar = _room_for_bars(sheet, rows)
    for job, row in zip(jobs, rows, strict=True):
        row.insert(2, signs.bar(job.counts, bar, sheet.glyphs))
    sheet.table(rows, right=(3,), indent=0)


def age(job: JobSummary, now: float) -> str:
    """Say how long a job has taken; of one that went on after its end, that includes idle time."""
    length = duration((job.ended or now) - job.submitted)
    if job.went_on:
        return f"{length} after its submission"
    return f"took {length}" if job.ended else f"{length} so far"


def _held_by_d0ctl(jobs: Iterable[JobSummary]) -> list[str]:
    """Say which jobs d0ctl holds, and why."""
    held = [job for job in jobs if job.is_held_by_d0ctl and job.ended is None]
    if not held:
        return []
    from d0ctl.show.outcome import held_or_paused  # most jobs are not held

    return [held_or_paused(job.name, "held", job) for job in held]


def _totals(
    sheet: Sheet, jobs: Sequence[JobSummary], production: Production, horizon: Horizon
) -> None:
    """Add the numbers of all jobs that have not ended, and of the nodes, if there are several.

    Failures of ended jobs that nobody has acknowledged follow: they need a person, too.
    """
    active = [job.counts for job in jobs if job.ended is None]
    failed = [max(0, job.counts.get(Phase.FAILED, 0) - job.acknowledged)
              for job in jobs if job.ended is not None]  # fmt: skip
    if len(active) + sum(map(bool, failed)) < LEAST_TOTALED:
        return
    counts: Counter[str] = Counter()
    for phases in active:
        counts.update(phases)
    done, packages = by_status(counts)["successful"], sum(counts.values())
    summary = "" if sheet.archive else _nodes_up(production)
    if active:
        of = f"{count(done)} of {count(packages, 'package')} done"
        summary = f"{of}   {summary}   {count(len(active), 'active job')}"
    stragglers = sum(horizon.stragglers(job.id) for job in jobs)
    tally = [*signs.tally_text(counts), *late(stragglers)]
    if sum(failed):
        gap = "   " if tally else ""
        which = " in ended jobs" if active else ""
        tally.append((f"{gap}{sum(failed):,} failed{which}", signs.role(Phase.FAILED)))
    if not summary:
        sheet.add(tally)
    elif cell_width(tally) + 3 + len(summary) <= sheet.columns:
        sheet.add([*tally, (f"   {summary}", "faint")])
    else:
        sheet.add(tally)
        sheet.add((summary, "faint"))
    sheet.add()


def _nodes_up(production: Production) -> str:
    """Say how many nodes are up, drained, being contacted; without a daemon, none is connected."""
    if not production.driven:
        return f"no daemon: {count(len(production.nodes), 'node')} not connected"
    up = [view.node.drained for view in production.nodes if view.node.state == "up"]
    drained = f", {count(sum(up))} drained" if any(up) else ""
    coming = sum(view.node.is_coming for view in production.nodes)
    contacted = f", {count(coming)} being contacted" if coming else ""
    return f"{count(len(up))} of {count(len(production.nodes), 'node')} up{drained}{contacted}"


def _row(
    sheet: Sheet, job: JobSummary, word: str, horizon: Horizon, now: float, *, driven: bool
) -> list[Cell]:
    """Return the line of a job without its bar; if nothing is driven, nobody knows its end."""
    done = by_status(job.counts)["successful"]
    has_end = driven and word not in STOPPED and sheet.columns >= WIDE
    return [
        (job.name, "strong"),
        signs.mark(word, sheet.glyphs),
        f"{count(done)}/{count(job.packages)}",
        (duration((job.ended or now) - job.submitted), "faint"),
        _end(job.id, horizon, now) if has_end else _resumed(sheet, job, now),
        [*_tally(job), *late(horizon.stragglers(job.id))],
    ]  # fmt: skip


def _resumed(sheet: Sheet, job: JobSummary, now: float) -> str:
    """Return when a paused job is resumed by itself."""
    if job.pause_until is None or sheet.columns < WIDE:
        return ""
    word = "until" if job.pause_until > now else "due since"
    return f"{word} {moment(job.pause_until, now)}"


def _end(job: int, horizon: Horizon, now: float) -> str:
    """Return when a job ends, or what it waits for."""
    if (end := at(horizon.end(job), now)) is not None:
        return f"ends {signs.estimate(end, now)}"
    nodes, is_late = horizon.nodes_down(job), horizon.is_late(job)
    if not nodes and not is_late:
        return ""
    from d0ctl.show.forecast.estimates import LATE, waits  # few jobs wait for nodes or stragglers

    return waits(nodes) or LATE


def late(stragglers: int) -> list[Span]:
    """Return how many packages run much longer than expected; nothing if none does."""
    return [(f"  {count(stragglers, 'straggler')}", "warn")] if stragglers else []


def tally(row: StageSummary | LineSummary, stragglers: int) -> list[Span]:
    """Return the numbers of packages of a stage or line."""
    return [*signs.tally_text(row.counts, blocked=row.blocked), *late(stragglers)]


def _tally(job: JobSummary) -> list[Span]:
    """Return the numbers of a job's packages, and remarks on failed and successful ones."""
    old = f"  {signs.SOME_OUTDATED}" if job.is_outdated else ""
    seen = f"  {count(job.acknowledged)} acknowledged" if job.acknowledged else ""
    return [*signs.tally_text(job.counts, blocked=job.blocked), (seen, "faint"),
            (old, "warn")]  # fmt: skip


def _room_for_bars(sheet: Sheet, rows: Sequence[Sequence[Cell]]) -> int:
    """Return how many columns bars can have: they take the room that a wide screen leaves."""
    widths = [max(map(cell_width, column)) for column in zip(*rows, strict=True)]
    rest = sheet.columns - sum(widths) - 2 * (sum(map(bool, widths)) + 1)
    return BAR if sheet.columns == ENDLESS else max(SHORTEST_BAR, min(LONGEST_BAR, rest))


def stop(sheet: Sheet, obstacles: Iterable[Obstacle]) -> None:
    """Add what stops all jobs, with the commands that help, above everything else."""
    for obstacle in obstacles:
        sign, role = signs.glyph("failed" if obstacle.commands else "drained", sheet.glyphs)
        text = ": ".join(filter(None, (f"{sign} {obstacle.text}", "; ".join(obstacle.commands))))
        can_be_typed = not any("#" in command for command in obstacle.commands[:-1])
        if can_be_typed and cell_width(text) <= sheet.columns:
            sheet.add((text, role))
        else:
            sheet.say(f"{sign} {obstacle.text}", role)
            sheet.commands(obstacle.commands)
    if sheet.lines:
        sheet.add()


def state(job: JobSummary, cause: Cause | None) -> str:
    """Return the word for the state of a job, which names what stops it.

    Packages that run continue without a daemon.
    """
    if job.is_open and (job.hold or job.pause):
        return "held" if job.hold else "paused"
    runs_on = cause in UNDRIVEN and job.status == Group.RUNNING
    return STANDS_STILL if cause is not None and not runs_on else word(job.status, job.counts)


def word(status: str, counts: Counts) -> str:
    """Return the word for the status of a job, stage or line.

    If a part has ended and nothing is launched, it is that of the package nearest to running. One
    that can't continue although nothing has failed is blocked, and one of which all launched
    packages are suspended is that, too.
    """
    if status == Group.FAILED:
        return signs.group_name(status, counts)
    totals = by_status(counts)
    if status == Group.RUNNING and counts.get(Phase.SUSPENDED) == totals["launched"]:
        return str(Phase.SUSPENDED)
    has_begun = totals["successful"] or totals["failed"] or totals["canceled"]
    if status != Group.SUBMITTED or not has_begun:
        return str(status)
    return next((str(phase) for phase in NEAREST if counts.get(phase)), str(status))


def settings_of(settings: JobSettings) -> list[str]:
    """Return the job file's other settings for the whole job."""
    pairs = settings.parameters.items()
    texts = [f"{key}={value if isinstance(value, str) else json.dumps(value)}"
             for key, value in pairs]  # fmt: skip
    texts += [f"mail: {settings.mail}"] if settings.mail else []
    if (most := settings.most_alike) is not None:
        texts.append(f"held after {count(most, 'alike failure')}" if most
                     else "never held for alike failures")  # fmt: skip
    return texts + [f"policy for {reason}" for reason in settings.policy]


def limits(row: JobSummary | StageSummary) -> list[str]:
    """Say how many packages may run at once, what must succeed, and what holds the job."""
    limits = []
    if isinstance(row, StageSummary) and row.require < 1:
        limits.append(f"requires {100 * row.require:.4g} % of its inputs")
    if row.max_running is not None:
        limits.append(f"at most {count(row.max_running, 'package')} at once")
    if isinstance(row, JobSummary) and row.max_failures is not None:
        limits.append(f"held after {count(row.max_failures, 'failed package')}")
    return limits


def kept_back(sheet: Sheet, job: JobSummary, now: float) -> None:
    """Say who holds, paused or finishes the job, since when and why."""
    for text in kept_back_by(job, now):
        sheet.say(text, "warn")


def kept_back_by(job: JobSummary, now: float) -> Iterator[str]:
    """Say who holds, paused or finishes a job, since when and why; nothing once it has ended."""
    totals = by_status(job.counts)
    is_left = totals["unscheduled"] or totals["scheduled"] or totals["launched"]
    if job.ended is not None or not is_left:  # a daemon records the end
        return
    if job.hold:
        why = f": {remark(job.hold_note)}" if job.hold_note else ""
        yield f"held by {job.hold_actor} since {moment(job.hold_since, now)}{why}"
    if job.pause:
        why = f": {job.pause_note}" if job.pause_note else ""
        since = f"since {moment(job.pause_since, now)}{until(job.pause_until, now)}"
        yield f"paused by {job.pause_actor} {since}{why}"
    if job.finish:
        since = moment(job.finish_since, now)
        yield f"being finished ({job.finish}) by {job.finish_actor} since {since}"
