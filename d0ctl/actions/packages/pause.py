"""pause and resume: start no more packages, on request suspend running ones, and go on."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from d0ctl.actions import undo, wording
from d0ctl.actions.action import Action, Author, Plan, Request, Way
from d0ctl.actions.option import Options, flag
from d0ctl.actions.selection import (
    HOLDABLE,
    first,
    has_ended,
    is_whole_job,
    jobs_of,
    nothing_for,
    rows,
)
from d0ctl.errors import Refused
from d0ctl.model import Phase, by_status
from d0ctl.store.connection import Store
from d0ctl.store.jobs import pause as pauses
from d0ctl.store.views import browse, choice
from d0ctl.store.views.shapes import JobSummary
from d0ctl.units import count, moment

SUSPENDABLE = frozenset({Phase.STARTING, Phase.STAGING_IN, Phase.RUNNING})


@dataclass(frozen=True, slots=True)
class PauseOptions(Options):
    """Options of pause."""

    running: bool = flag("--running", "Suspend running packages, too.")


@dataclass(frozen=True, slots=True, kw_only=True)
class PausePlan(Plan):
    """What pause or resume would do."""

    launched: int = 0
    """How many packages would be suspended, or would continue."""


def plan_pause(store: Store, request: Request[PauseOptions], now: float) -> PausePlan:
    """Plan to set the flag of whole jobs, or to park the packages of a part of one."""
    if not is_whole_job(request.target):
        running = request.options.running

        def can_pause(phase: str, is_parked: bool, is_asked: bool) -> bool:
            return phase in HOLDABLE or (running and phase in SUSPENDABLE and not is_asked)

        return _of_part(store, request, can_pause, "paused", now)
    jobs = jobs_of(store, request.target)
    free = [job for job in jobs if not has_ended(job) and _adds(job, request)]
    if not free:
        raise _not_pausable(jobs, request, now)
    launched = sum(sum(job.counts.get(phase, 0) for phase in SUSPENDABLE) for job in free)
    return PausePlan(
        request=request,
        jobs=tuple(job.name for job in free),
        packages=sum(_idle(job) for job in free),
        launched=launched if request.options.running else 0,
    )


def plan_resume(store: Store, request: Request[Options], now: float) -> PausePlan:
    """Plan to clear the flag of whole jobs, or to resume the paused packages of a part of one."""
    if not is_whole_job(request.target):
        return _of_part(store, request, _can_resume, "resumed", now)
    jobs = jobs_of(store, request.target)
    paused = [job for job in jobs if job.pause]
    if not paused:
        hint = f"d0ctl status '{request.target.parts[0]}:held'"
        if any(job.hold for job in jobs):
            hint = f"it is held: d0ctl release {request.target.parts[0]}"
        raise Refused(f"`{request.target.brief}` is not paused as a whole, so it can't be resumed",
                      hint=hint)  # fmt: skip
    return PausePlan(
        request=request,
        jobs=tuple(job.name for job in paused),
        packages=sum(_idle(job) for job in paused),
        launched=sum(job.counts.get("suspended", 0) for job in paused),
    )


def _adds(job: JobSummary, request: Request[PauseOptions]) -> bool:
    return not job.pause or (request.options.running and not job.pause_running)


def _idle(job: JobSummary) -> int:
    totals = by_status(job.counts)
    return totals["unscheduled"] + totals["scheduled"]


def _not_pausable(jobs: list[JobSummary], request: Request[PauseOptions], now: float) -> Refused:
    if len(jobs) > 1:
        return Refused(f"no job of `{request.target.brief}` can be paused", hint="d0ctl status")
    job = jobs[0]
    if has_ended(job):
        return Refused(f"job `{job.name}` is {job.status}, so it can't be paused",
                       hint=f"d0ctl status {job.name}")  # fmt: skip
    why = f" ({job.pause_note})" if job.pause_note else ""
    return Refused(
        f"job `{job.name}` was paused by {job.pause_actor} at "
        f"{moment(job.pause_since, now)}{why}, so it can't be paused again",
        hint=f"d0ctl resume {job.name}",
    )


_Able: TypeAlias = Callable[[str, bool, bool], bool]
"""Whether an action applies to a package, by its phase, whether pause holds it, and whether it
was asked to pause."""


def _can_resume(phase: str, is_parked: bool, is_asked: bool) -> bool:
    held = phase == Phase.HELD and is_parked
    return held or phase == Phase.SUSPENDED or (phase in SUSPENDABLE and is_asked)


def _of_part(store: Store, request: Request[Any], able: _Able, past: str, now: float) -> PausePlan:
    choice.choose(store, request.target, now=now)
    changed: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    for phase, is_parked, is_asked, number in pauses.pausable(store):
        (changed if able(phase, is_parked, is_asked) else kept)[phase] += number
    if not changed:
        raise nothing_for(store, request.target, kept, past)
    return PausePlan(
        request=request,
        phases=dict(changed),
        packages=changed.total(),
        kept=dict(kept),
        changes=first(rows(store), changed),
        launched=sum(n for phase, n in changed.items() if phase in SUSPENDABLE),
    )


def pause(store: Store, plan: PausePlan, by: Author) -> None:
    """Set the flags or park the packages, and ask running ones to suspend if that is wanted."""
    running = plan.request.options.running
    if plan.jobs:
        pauses.pause_jobs(store, _ids(store, plan), running=running, **by._asdict())
    else:
        pauses.pause(store, running=running, **by._asdict())


def resume(store: Store, plan: PausePlan, by: Author) -> None:
    """Clear the flags or release the parked packages, and ask suspended ones to continue."""
    if plan.jobs:
        pauses.resume_jobs(store, _ids(store, plan), **by._asdict())
    else:
        pauses.resume(store, **by._asdict())


def _ids(store: Store, plan: PausePlan) -> list[int]:
    return [browse.job(store, name).id for name in plan.jobs]


def describe_pause(plan: PausePlan) -> Iterator[str]:
    """Say what a pause would do."""
    if not plan.jobs:
        yield from wording.describe_packages(plan, "pause")
        return
    running = count(plan.launched, "package")
    rest = f"{running} would be suspended" if plan.launched else "running packages continue"
    idle = count(plan.packages, "package")
    yield f"would pause {wording.jobs(plan)}: {idle} would not start; {rest}"


def describe_resume(plan: PausePlan) -> Iterator[str]:
    """Say what resuming would do."""
    if not plan.jobs:
        yield from wording.describe_packages(plan, "resume")
        return
    suspended = count(plan.launched, "suspended package")
    rest = f"; {suspended} would continue" if plan.launched else ""
    idle = count(plan.packages, "package")
    yield f"would resume {wording.jobs(plan)}: {idle} could start{rest}"


def report_pause(plan: PausePlan) -> Iterator[str]:
    """Say what was paused."""
    yield from _report(plan, "pause", "paused", "suspended")


def report_resume(plan: PausePlan) -> Iterator[str]:
    """Say what was resumed."""
    yield from _report(plan, "resume", "resumed", "resumed")


def _report(plan: PausePlan, verb: str, past: str, running: str) -> Iterator[str]:
    if plan.jobs:
        yield f"{past} {wording.jobs(plan)}"
    else:
        yield from wording.report_packages(plan, verb, past)
    if plan.launched:
        yield f"{wording.packages_are(plan.launched)} being {running}"
    yield from wording.unchanged(plan)


PAUSE = Action(
    name="pause",
    help="Start no more packages; with --running, suspend running ones.",
    example="reco001 --running",
    past="paused",
    options=PauseOptions,
    plan=plan_pause,
    act=pause,
    undo=lambda plan: undo.command("resume", undo.paths(plan.request.target)),
    describe=describe_pause,
    report=report_pause,
    is_flag=True,
    conflicts=frozenset({"resume", "finish", "remove"}),
    key="S",
    title="pause: start nothing new",
    ways=(
        Way("let running packages continue"),
        Way("suspend running packages, too", frozenset({"--running"})),
    ),
)

RESUME = Action(
    name="resume",
    help="Resume paused jobs or packages.",
    example="reco001",
    past="resumed",
    options=Options,
    plan=plan_resume,
    act=resume,
    undo=lambda plan: undo.command("pause", undo.paths(plan.request.target)),
    describe=describe_resume,
    report=report_resume,
    starts_packages=True,
    is_flag=True,
    conflicts=frozenset({"finish", "remove"}),
    key="C",
    title="resume after a pause",
)
