"""resume: resume paused jobs or packages."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from shlex import quote

from d0ctl.actions import undo, wording
from d0ctl.actions.action import Action, Author, Conflict, Request
from d0ctl.actions.option import Options
from d0ctl.actions.packages.pause import (
    SUSPENDABLE,
    PausePlan,
    ids,
    of_part,
    out_of_reach,
    report_both,
    silent,
)
from d0ctl.actions.selection import cooling, is_whole_job, jobs_of, startable
from d0ctl.errors import Refused
from d0ctl.model import Phase
from d0ctl.store import lifecycle
from d0ctl.store.attempts.alike_failures import stopped_jobs
from d0ctl.store.connection import Store
from d0ctl.store.jobs import pause as pauses
from d0ctl.store.views import browse
from d0ctl.store.views.shapes import JobSummary
from d0ctl.units import count, format_time


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumePlan(PausePlan):
    """What resume would do."""

    left: float | None = field(default=None, compare=False)
    """After how many seconds the daemon would have resumed it by itself."""
    with_running: bool = False
    """Whether it was paused with its running packages."""
    guarded: Mapping[str, int] = field(default_factory=dict)
    """How many packages stay suspended after a resume, by the cause on their nodes."""
    held: tuple[str, ...] = ()
    """The jobs that stay held after a resume."""
    paused: tuple[str, ...] = ()
    """The jobs of resumed packages that stay paused themselves."""
    cooling: Mapping[str, int] = field(default_factory=dict, compare=False)
    """How many of the packages of resumed jobs are cooling off, by job."""


def plan(store: Store, request: Request[Options], now: float) -> ResumePlan:
    """Plan to clear the flag of whole jobs, or to resume the paused packages of a part of one."""
    if not is_whole_job(request.target):
        try:
            part = of_part(store, request, _can_resume, ResumePlan, "resumed", now)
        except Conflict as refusal:
            whole = [job for job in jobs_of(store, request.target) if job.pause]
            if whole:
                refusal.hint = f"the whole job is paused: {whole[0].resume}"
            raise
        stopped = stopped_jobs(part.selection)
        return replace(part, with_running=part.phases.keys() != {Phase.HELD},
                       guarded=pauses.guarded(part.selection),
                       held=tuple(job.name for job in stopped if job.is_held),
                       paused=tuple(job.name for job in stopped if job.is_paused))  # fmt: skip
    jobs = jobs_of(store, request.target)
    paused = [job for job in jobs if job.pause]
    if not paused:
        hint = f"d0ctl status {quote(str(request.target.parts[0]))}"
        if some := next((job for job in jobs if job.counts.get("held")), None):
            verb = browse.verb_of_held(store, some.id, mixed="resume")
            hint = f"d0ctl {verb} {quote(f'{some.name}:held')}"
        if any(job.hold for job in jobs):
            hint = f"it is held: d0ctl release {quote(str(request.target.parts[0]))}"
        raise Refused(f"`{request.target.brief}` is not paused as a whole, so it can't be resumed",
                      hint=hint)  # fmt: skip
    if with_task := next((job for job in paused if job.has_paused_task), None):
        raise Refused(f"task `{with_task.name}` is paused, and its job is resumed with it",
                      hint=with_task.resume)  # fmt: skip
    return ResumePlan(
        request=request,
        jobs=tuple(job.name for job in paused),
        packages=startable(store, paused),
        launched=sum(job.counts.get("suspended", 0) for job in paused),
        silent=silent(store, paused, is_asked=True),
        with_running=all(job.pause_running for job in paused),
        left=_left(paused, now),
        guarded=pauses.guarded(lifecycle.choose_launched(store, [job.id for job in paused])),
        held=tuple(job.name for job in paused if job.hold),
        cooling=cooling(paused),
    )


def _left(paused: Sequence[JobSummary], now: float) -> float | None:
    """Return how long pauses would have lasted that all end by themselves at the same time."""
    ends = {job.pause_until for job in paused}
    return max(1.0, round(end - now)) if len(ends) == 1 and (end := ends.pop()) else None


def _can_resume(phase: str, is_parked: bool, is_asked: bool) -> bool:
    held = phase == Phase.HELD and is_parked
    will_pause = is_asked and (phase in SUSPENDABLE or phase == Phase.UNREACHABLE)
    return held or phase == Phase.SUSPENDED or will_pause


def resume(store: Store, plan: ResumePlan, by: Author) -> None:
    """Clear the flags or release the paused packages, and let suspended ones continue."""
    if plan.jobs:
        pauses.resume_jobs(store, ids(store, plan), **by._asdict())
    else:
        pauses.resume(plan.selection, **by._asdict())


def describe(plan: ResumePlan) -> Iterator[str]:
    """Say what resuming would do."""
    if plan.jobs:
        suspended = count(plan.launched, "suspended package")
        rest = f"; {suspended} would continue" if plan.launched else ""
        able = count(plan.packages - sum(plan.cooling.values()), "package")
        yield f"would resume {wording.jobs(plan)}: {able} could start{rest}"
        yield from wording.start_later(plan.cooling)
    else:
        yield from wording.describe_packages(plan, "resume")
    yield from _stays_stopped(plan)
    yield from out_of_reach(plan, "continues", "continue")
    yield from _stays(plan)


def _stays_stopped(plan: ResumePlan) -> Iterator[str]:
    """Say which jobs start nothing for another reason, if they have packages to start."""
    if plan.packages if plan.jobs else plan.phases.get(Phase.HELD):
        yield from wording.start_nothing(plan.held, plan.paused)


def _stays(plan: ResumePlan) -> Iterator[str]:
    """Say which packages do not continue yet, and why."""
    for cause, number in plan.guarded.items():
        packages = count(number, "package stays", "packages stay")
        lets = "its node lets it" if number == 1 else "their nodes let them"
        yield f"{packages} suspended until {lets} continue: {cause}"


def report(plan: ResumePlan) -> Iterator[str]:
    """Say what was resumed, and what does not continue yet."""
    yield from report_both(plan, "resume", "resumed", "resumed")
    yield from _stays_stopped(plan)
    yield from out_of_reach(plan, "continues", "continue")
    yield from _stays(plan)


def _undo(plan: ResumePlan) -> str | None:
    more = ["--running"] * plan.with_running
    more += [] if plan.left is None else ["--for", format_time(plan.left)]
    return undo.of_changed("pause", plan, *more)


ACTION = Action(
    name="resume",
    help="Resume paused jobs or packages.",
    example="reco001",
    past="resumed",
    options=Options,
    plan=plan,
    act=resume,
    undo=_undo,
    describe=describe,
    report=report,
    starts_packages=True,
    is_flag=True,
    conflicts=frozenset({"finish", "remove"}),
    key="C",
    title="resume: continue after a pause",
)
