"""The line and the exit code of `status --check`."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from d0ctl.errors import ExitCode
from d0ctl.model import Phase
from d0ctl.schedule.standstill import DELIBERATE, SITEWIDE, Cause, is_alarming
from d0ctl.show.why.production import (
    blocked_jobs,
    job_obstacles,
    nodes_away,
    overflow,
    standstill,
)
from d0ctl.show.why.stopped_job import MOST, in_quotes, kept_back, stay_suspended
from d0ctl.store.nodes.standstill import JobStanding, Production
from d0ctl.units import count, moment

NONE: Mapping[str, int] = MappingProxyType({})

ONLY_DOWN = "whose inputs are only on nodes that are down"
"""Which unreachable packages would not run elsewhere."""


class Check(Struct, frozen=True):
    """Whether production moves, for monitors: a word, a line and an exit code."""

    state: str
    headline: str
    code: ExitCode
    commands: tuple[str, ...] = ()


def check(
    production: Production,
    now: float,
    stragglers: Mapping[str, int] | None = None,
    given_up: float | None = None,
    suspended: Mapping[str, int] | None = None,
    bound: Mapping[str, int] = NONE,
) -> Check:
    """Check whether production moves: 0 moving or idle, 1 failures, 5 standstill.

    The line also names nodes that are down, full or drained, and caches that are too small, and
    counts the stragglers and held packages of jobs, acknowledged failures, packages that a person
    `suspended` in jobs that are not paused, and unreachable ones, which are `given_up` from then
    on; of these, `bound` ones have inputs that only nodes have that are down. These change neither
    word nor exit code.
    """
    result = by_rules(production, now)
    stay = [stay_suspended(*entry) for entry in list((suspended or {}).items())[:MOST]]
    others = "; ".join(filter(None, [_acknowledged(production), *stay, _held(production),
                                     _unreachable(production, given_up, bound, now),
                                     _undriven(production),
                                     _down(production, result.headline, now),
                                     _full(production, result.headline),
                                     *_caches(production, now),
                                     _drained(production, result.headline)]))  # fmt: skip
    if others:
        result = replace(result, headline=f"{result.headline}; {others}")
    if not stragglers:
        return result
    late = f"{count(sum(stragglers.values()), 'straggler')} in {in_quotes(stragglers)}"
    commands = tuple(dict.fromkeys((*result.commands, *_why(stragglers))))
    return replace(result, headline=f"{result.headline}; {late}", commands=commands)


def by_rules(production: Production, now: float) -> Check:
    """Return word and exit code, and a line that names only what decides them, and held jobs."""
    if (full := production.full_home) is not None:
        return Check("standstill", f"stands still: {full}", ExitCode.DATABASE, (str(full.hint),))
    if is_alarming(production.cause):
        stop = standstill(production, now)
        text = f"stands still: {stop.text}{_others(production, stop.text)}"
        if production.failures:
            text += f"; {_failed(production.failures)}"
        commands = (*stop.commands, *_why(production.failures))
        return Check("standstill", text, ExitCode.DATABASE, tuple(dict.fromkeys(commands)))
    stopped = {**_stopped(production, now), **_blocked(production)}
    jobs = {**production.failures, **stopped}
    if jobs:
        texts = [_failed(production.failures)] if production.failures else []
        others = [job for job in production.jobs if job.name not in stopped]
        texts += [*stopped.values(), *kept_back(others)]
        text = f"failures: {'; '.join(texts)}"
        return Check("failures", text, ExitCode.FAILED, _why(jobs))
    moving = [job for job in production.jobs if job.standing.moves]
    text = f"moving: {count(len(moving), 'job')}" if moving else "nothing to do"
    texts = [text, *kept_back(production.jobs)]
    return Check("moving" if moving else "idle", "; ".join(texts), ExitCode.DONE)


def _others(production: Production, text: str) -> str:
    """Name the jobs that stand still for other causes than the main one, if that is of jobs."""
    if production.cause in SITEWIDE:
        return ""
    names = [job.name for job in production.stopped
             if job.standing.cause not in DELIBERATE and f"`{job.name}`" not in text]  # fmt: skip
    stand = "stands" if len(names) == 1 else "stand"
    texts = [f"{in_quotes(names)} {stand} still, too"] if names else []
    return "".join(f"; {text}" for text in [*texts, *kept_back(production.jobs)])


def _failed(failures: dict[str, int]) -> str:
    return f"{count(sum(failures.values()), 'package')} failed in {in_quotes(failures)}"


def _acknowledged(production: Production) -> str:
    """Count the failures that are acknowledged, and so need nobody."""
    seen = production.acknowledged
    number = count(sum(seen.values()), "acknowledged failure")
    return f"{number} in {in_quotes(seen)}" if seen else ""


def _held(production: Production) -> str:
    """Count the held packages of jobs that go on without them."""
    held = {job.name: number for job in production.jobs if (number := held_beside(job))}
    return f"{count(sum(held.values()), 'held package')} in {in_quotes(held)}" if held else ""


def held_beside(job: JobStanding) -> int:
    """Count the held packages of a job that goes on without them; its policy releases none."""
    said = job.work.held or job.work.releases or job.standing.cause is Cause.HELD
    return 0 if said else job.work.counts.get(Phase.HELD, 0)


def _why(jobs: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"d0ctl why {name}" for name in list(jobs)[:MOST])


def _stopped(production: Production, now: float) -> dict[str, str]:
    """Return by job what a person should do something about, a few."""
    soon = {job.name for job in production.jobs if job.next_try and job.standing.moves}
    texts = {name: obstacle.text for name, obstacle in job_obstacles(production, now).items()
             if name not in soon}  # fmt: skip
    for job in production.stopped:
        if job.standing.cause is Cause.HELD and not is_by_person(job):
            texts[job.name] = f"`{job.name}` stands still: {packages_held(job)}"
    return dict(list(texts.items())[:MOST])


def _blocked(production: Production) -> dict[str, str]:
    """Return by job that other jobs do not make files that it needs, a few."""
    texts = {name: obstacle.text for name, obstacle in blocked_jobs(production).items()}
    return dict(list(texts.items())[:MOST])


def packages_held(job: JobStanding) -> str:
    """Count the packages of a job of which only held ones are left."""
    return f"{count(job.work.counts.get(Phase.HELD, 0), 'package is', 'packages are')} held"


def is_by_person(job: JobStanding) -> bool:
    """Return whether a person holds or has paused a job, rather than d0ctl its packages."""
    return job.standing.cause in DELIBERATE and (job.work.held or job.work.paused)


def _unreachable(
    production: Production, given_up: float | None, bound: Mapping[str, int], now: float
) -> str:
    """Count packages on nodes that do not answer, and say from when on they may run elsewhere.

    Those of jobs that are held or paused may not, and `bound` ones can't; without a daemon nobody
    knows when.
    """
    may_start, stay, waits = dict[str, int](), dict[str, int](), dict[str, int]()
    for job in production.jobs:
        if there := min(bound.get(job.name, 0), job.work.silent):
            waits[job.name] = there
        if job.work.silent > there:
            is_kept_back = job.work.held or job.work.paused
            (stay if is_kept_back else may_start)[job.name] = job.work.silent - there
    later = "" if given_up is None else f", which may run elsewhere from {moment(given_up, now)} on"
    return "; ".join(
        f"{count(sum(jobs.values()), 'package')} unreachable in {in_quotes(jobs)}{when}"
        for jobs, when in ((may_start, later), (stay, ""), (waits, f", {ONLY_DOWN}")) if jobs
    )  # fmt: skip


def _undriven(production: Production) -> str:
    """Say that no daemon is running if jobs don't stand still for that."""
    said = production.driven or production.cause is Cause.NO_DAEMON
    return "" if said else "no daemon is running"


def _down(production: Production, said: str, now: float) -> str:
    """Name nodes that are down and that the line does not name yet."""
    down = [view for view in production.nodes
            if view.node.state == "down" and f"`{view.name}`" not in said]  # fmt: skip
    return nodes_away(down, now)


def _full(production: Production, said: str) -> str:
    """Name nodes that take no packages because of their disks, and that the line does not name."""
    names = [view.name for view in production.nodes
             if view.node.state == "up" and view.disk is not None
             and view.disk.reserve is not None and f"`{view.name}`" not in said]  # fmt: skip
    if not names:
        return ""
    return f"{'disk' if len(names) == 1 else 'disks'} of {in_quotes(names)} full"


def _caches(production: Production, now: float) -> list[str]:
    """Name caches that are or will be too small, as a daemon knows."""
    return [overflow(cache, now).text for cache in production.overflows[:MOST] if production.driven]


def _drained(production: Production, said: str) -> str:
    """Name drained nodes that the line does not name yet; empty if they are the standstill."""
    nodes = [view for view in production.nodes if view.node.state == "up"]
    names = [view.name for view in nodes if view.node.drained and f"`{view.name}`" not in said]
    is_cause = production.cause is Cause.NO_NODE_UP and all(view.node.drained for view in nodes)
    if not names or is_cause:
        return ""
    return f"{'node' if len(names) == 1 else 'nodes'} {in_quotes(names)} drained"
