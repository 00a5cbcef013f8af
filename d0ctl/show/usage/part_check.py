"""The line of `status SELECTOR --check`, and its exit code by the rules for all jobs."""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from d0ctl.errors import ExitCode
from d0ctl.model import Group, Phase, by_status
from d0ctl.schedule.standstill import SITEWIDE, UNDRIVEN, Cause
from d0ctl.show import outcome
from d0ctl.show.drawing import signs
from d0ctl.show.forecast import estimates
from d0ctl.show.usage.site_check import (
    ONLY_DOWN,
    by_rules,
    held_beside,
    is_by_person,
    packages_held,
)
from d0ctl.show.why import stopped_job
from d0ctl.show.why.common import count_lacking
from d0ctl.show.why.production import LACKS_FILES, job_obstacles, stop_of_all
from d0ctl.show.why.stopped_job import in_quotes
from d0ctl.store.nodes.standstill import Production
from d0ctl.store.views.awaited import Awaited
from d0ctl.store.views.left_out import Shortfall
from d0ctl.store.views.shapes import JobSummary
from d0ctl.units import clean, count, moment


class PartCheck(Struct, frozen=True):
    """Whether a job or a part of it moves: its state, why it needs a person, and an exit code."""

    state: str
    stops: bool
    why: str
    code: ExitCode


def check(production: Production, part: Awaited, now: float) -> PartCheck:
    """Check a job or a part of it as if there was nothing else on the site."""
    is_whole = part.counts is part.job.counts
    name, failed = part.job.name, _failures(part)
    is_blocked = name in production.blocked and (is_whole or part.status is Group.FAILED)
    tasks = [task for task in production.tasks if is_whole and task.name == name]
    alone = replace(
        production, jobs=[part.found], failures={name: failed} if failed else {}, acknowledged={},
        tasks=tasks, blocked=[name] if is_blocked else [],
    )  # fmt: skip
    status = next((task.status for task in tasks if task.status), None)
    code, found = by_rules(alone, now).code, part.found
    stops = found.standing.stands_still
    if found.standing.cause in UNDRIVEN:
        stops = not by_status(part.counts)["launched"]  # these continue
    elif is_by_person(found):
        stops = False
    why = _why(alone, name, now)
    is_of_job = stops and not is_whole and found.work.counts != part.counts
    why = f"its job: {why}" if why and is_of_job and alone.cause not in SITEWIDE else why
    return PartCheck(status or part.state, stops, why, code)


def _failures(part: Awaited) -> int:
    """Count the failed packages of a part, or those that block it, that are not acknowledged."""
    if failed := by_status(part.counts)["failed"]:
        return failed - part.acknowledged
    if part.status is not Group.FAILED:
        return 0
    return by_status(part.job.counts)["failed"] - part.job.acknowledged


def _why(alone: Production, name: str, now: float) -> str:
    """Say what stops the only job of a production, or the part of it."""
    if alone.full_home is not None:
        return str(alone.full_home)
    if sitewide := stop_of_all(alone, now):
        return sitewide.text
    if own := job_obstacles(alone, now).get(name):
        return own.text.removeprefix(f"`{name}`: ")
    (job,) = alone.jobs
    if job.standing.cause is Cause.HELD and not is_by_person(job):
        return packages_held(job)
    return LACKS_FILES if alone.blocked else ""


def is_stuck(part: Awaited) -> bool:
    """Return whether its packages are not launched, but could be if nodes had their inputs."""
    counts = part.counts
    has_inputs = counts.get(Phase.ASSIGNED) or counts.get(Phase.READY)
    return bool(has_inputs) and not by_status(counts)["launched"]


class Silent(Struct, frozen=True):
    """The nodes with packages that do not answer, and when the first packages are given up."""

    nodes: Collection[str]
    given_up: float | None
    now: float
    bound: Mapping[str, int]
    """How many packages of jobs have inputs that only nodes have that are down."""

    def in_words(self, packages: int, job: JobSummary) -> str:
        """Say how many packages of a job or a part of it are on them, and from when on these may
        run elsewhere.
        """
        bound, when = self.bound.get(job.name, 0), ""
        if bound and bound >= job.counts.get(Phase.UNREACHABLE, 0):
            when = f", {ONLY_DOWN}"
        elif self.given_up is not None and not (job.hold or job.pause):
            when = f", which may run elsewhere from {moment(self.given_up, self.now)} on"
            when += ", but not those whose inputs are only on nodes that are down" * bool(bound)
        are_down = f" ({in_quotes(sorted(self.nodes))} down)" if self.nodes else ""
        return f"; {count(packages)} unreachable{are_down}{when}" if packages else ""


NOTHING: Mapping[str, int] = MappingProxyType({})


def in_one_line(
    name: str,
    part: Awaited,
    found: PartCheck,
    silent: Silent,
    stragglers: int = 0,
    nodes_down: Sequence[str] = (),
    suspended: Mapping[str, int] = NOTHING,
    short: Sequence[Shortfall] = (),
) -> str:
    """Say in one line how a job or a part of it is, and what stops it."""
    totals, unreachable = by_status(part.counts), part.counts.get(Phase.UNREACHABLE, 0)
    done = f"{count(totals['successful'])} of {count(sum(part.counts.values()), 'package')} done"
    known = part.acknowledged
    failed = f", {outcome.failures(totals['failed'], known)}" if totals["failed"] else ""
    stands = " and stands still" if found.stops else ""
    late = f", {count(held)} held" if (held := held_beside(part.found)) else ""
    late += f", {count(stragglers, 'straggler')}" if stragglers else ""
    is_old = name == part.job.name and part.job.is_outdated
    old = count_lacking(name, short) + (f", {signs.SOME_OUTDATED}" if is_old else "")
    alike = [
        phase
        for phase in (Phase.UNREACHABLE, Phase.SUSPENDED)
        if found.state == Group.RUNNING and part.counts.get(phase) == totals["launched"] > 0
    ]
    state = outcome.stays(alike[0] if alike else found.state, part.counts)
    why = f"; {clean(found.why)}" if found.why else ""
    away = _suspended(part, suspended)
    away += silent.in_words(unreachable, part.job)
    away += f"; {estimates.waits(nodes_down)}" if nodes_down else ""
    return f"`{name}` {state}{stands}: {done}{failed}{late}{old}{_kept_back(part)}{why}{away}"


def _suspended(part: Awaited, suspended: Mapping[str, int]) -> str:
    """Say that a person suspended packages of a job that is not paused, if the part has any."""
    name = part.job.name
    if not part.counts.get(Phase.SUSPENDED) or name not in suspended:
        return ""
    return f"; {stopped_job.stay_suspended(name, suspended[name])}"


def _kept_back(part: Awaited) -> str:
    """Say that the job of a part that still runs is held or paused; else its state says it."""
    job, is_going = part.job, part.state in (Group.SUBMITTED, Group.RUNNING)
    if not (is_going and (job.hold or job.pause)):
        return ""
    whose = "it" if part.counts is job.counts else "its job"
    return f"; {whose} is {'held' if job.hold else 'paused'}"
