"""pause: start no more packages, and on request suspend running ones."""

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, TypeVar

from d0ctl.actions import undo, wording
from d0ctl.actions.action import Action, Author, Plan, Request, Way
from d0ctl.actions.option import CLOCK, TIME, Options, flag, next_at, typed, value
from d0ctl.actions.packages.hold import QUEUED, given_back, start_there, suspension
from d0ctl.actions.selection import (
    HOLDABLE,
    first,
    has_ended,
    is_whole_job,
    jobs_of,
    nothing_for,
    rows,
    startable,
)
from d0ctl.errors import BadUsage, Refused
from d0ctl.model import Phase
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.jobs import pause as pauses
from d0ctl.store.nodes.holder import any_driver
from d0ctl.store.views import browse, selection
from d0ctl.store.views.shapes import JobSummary
from d0ctl.units import count, format_time, listed, moment

SUSPENDABLE = frozenset({Phase.STARTING, Phase.STAGING_IN, Phase.RUNNING})


@dataclass(frozen=True, slots=True)
class PauseOptions(Options):
    """Options of pause."""

    running: bool = flag("--running", "Suspend running packages, too.")
    duration: float | None = value(
        "--for", "TIME", "Resume whole jobs after this time, e.g. 1h (default: `resume` does).",
        type=TIME, example="1h", log=TIME.write,
    )  # fmt: skip
    until: str | None = value(
        "--until", "HH:MM", "Resume whole jobs when it is next this time, e.g. 21:30.",
        type=CLOCK, log=CLOCK.write,
    )  # fmt: skip

    def end(self, now: float) -> float | None:
        """Return when the daemon resumes what is paused now; None if a person does.

        Raises BadUsage.
        """
        if self.duration is not None and self.until is not None:
            raise BadUsage("give `--for` or `--until`, not both", hint="d0ctl pause --help")
        if self.until is not None:
            return next_at(self.until, now)
        return None if self.duration is None else now + self.duration

    def end_text(self, now: float) -> str:
        """Say when that is: `in 1h`, or with the day if it is another day."""
        if self.duration is not None:
            return f"in {format_time(self.duration)}"
        return f"at {moment(self.end(now), now)}" if self.until is not None else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PausePlan(Plan):
    """What pause or resume would do."""

    launched: int = 0
    """How many packages would be suspended, or would continue."""
    queued: int = 0
    """How many packages of whole jobs are queued on nodes, and start."""
    given_back: int = 0
    """How many packages are queued on nodes, which give them back."""
    silent: int = 0
    """How many of the packages to suspend or resume are on nodes that do not answer."""
    suspended: int = 0
    """How many packages of the jobs are suspended already, which would stay so."""
    is_paused: bool = False
    """Whether a job is paused already, so that a resume would end that pause, too."""
    end: str = field(default="", compare=False)
    """When the daemon resumes what is paused, in words; empty if a person does."""
    is_driven: bool = field(default=True, compare=False)
    """Whether a process runs that resumes it then."""
    replaced: str = ""
    """Which end of an earlier pause this one removes, in words; empty if it has an end itself."""


def plan(store: Store, request: Request[PauseOptions], now: float) -> PausePlan:
    """Plan to set the flag of whole jobs, or to pause the packages of a part of one."""
    if not is_whole_job(request.target):
        running = request.options.running
        if request.options.end(now) is not None:
            raise _not_timed(request)

        def can_pause(phase: str, is_parked: bool, is_asked: bool) -> bool:
            can_stay = phase in SUSPENDABLE or phase in (Phase.SUSPENDED, Phase.UNREACHABLE)
            return phase in HOLDABLE or (running and can_stay and not is_asked)

        part = of_part(store, request, can_pause, PausePlan, "paused", now)
        queued = part.phases.get(Phase.STARTING, 0)
        return replace(part, launched=part.launched - queued, given_back=queued)
    jobs = jobs_of(store, request.target)
    free = [job for job in jobs if not has_ended(job) and _adds(job, request, now)]
    if not free:
        raise _not_pausable(jobs, request, now)
    numbers = sum((Counter(job.counts) for job in free), Counter[str]())
    running = request.options.running
    return PausePlan(
        request=request, jobs=tuple(job.name for job in free), packages=startable(store, free),
        launched=running * (numbers[Phase.STAGING_IN] + numbers[Phase.RUNNING]),
        given_back=running * numbers[Phase.STARTING],
        silent=silent(store, free, is_asked=False) if running else 0,
        queued=0 if running else sum(numbers[phase] for phase in QUEUED),
        suspended=numbers[Phase.SUSPENDED], is_paused=any(job.pause for job in free),
        end=request.options.end_text(now), is_driven=any_driver(store),
        replaced=_replaced(free, request, now),
    )  # fmt: skip


def silent(store: Store, jobs: Iterable[JobSummary], *, is_asked: bool) -> int:
    """Count the packages of jobs on nodes that do not answer that were suspended, or asked to be;
    or those that were not.
    """
    selected = lifecycle.choose_launched(store, [job.id for job in jobs])
    return sum(found.number for found in pauses.pausable(selected)
               if found.phase == Phase.UNREACHABLE and found.is_asked == is_asked)  # fmt: skip


def _adds(job: JobSummary, request: Request[PauseOptions], now: float) -> bool:
    adds_running = request.options.running and not job.pause_running
    is_timed = request.options.end(now) is not None or job.pause_until is not None
    return not job.pause or adds_running or is_timed


def _replaced(jobs: Iterable[JobSummary], request: Request[PauseOptions], now: float) -> str:
    ends = {job.name: job.pause_until for job in jobs if job.pause_until is not None}
    if not ends or request.options.end(now) is not None:
        return ""
    return listed([f"`{job}` at {moment(end, now)}" for job, end in ends.items()])


def _not_timed(request: Request[PauseOptions]) -> BadUsage:
    job = request.target.parts[0].job
    option = "--for" if request.options.until is None else "--until"
    return BadUsage(f"`{option}` pauses whole jobs, not a part such as `{request.target.brief}`",
                    hint=shlex.join(["d0ctl", "pause", job, *typed(request.options)]))  # fmt: skip


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
        hint=job.resume,
    )


Able: TypeAlias = Callable[[str, bool, bool], bool]
"""Whether an action applies to a package, by its phase, whether pause holds it, and whether
suspending it was requested."""


AnyPlan = TypeVar("AnyPlan", bound=PausePlan)


def of_part(
    store: Store, request: Request[Any], able: Able, kind: type[AnyPlan], past: str, now: float
) -> AnyPlan:
    """Plan for the packages of a part of a job to which an action applies."""
    selected = selection.choose(store, request.target, now=now)
    changed: Counter[str] = Counter()
    unchanged: Counter[str] = Counter()
    kinds: list[pauses.Pausable] = []
    for of in pauses.pausable(selected):
        is_able = able(of.phase, of.is_parked, of.is_asked)
        (changed if is_able else unchanged)[of.phase] += of.number
        kinds += [of] * is_able
    if not changed:
        raise nothing_for(selected, request.target, unchanged, past)
    if changed.keys() & unchanged.keys():  # the phase alone does not tell which these are
        pauses.keep(selected, kinds)
    return kind(
        request=request, selected=selected,
        packages=changed.total(), phases=dict(changed), unchanged=dict(unchanged),
        changes=first(rows(selected), changed),
        launched=sum(n for phase, n in changed.items() if phase in SUSPENDABLE),
        silent=changed[Phase.UNREACHABLE],
    )  # fmt: skip


def pause(store: Store, plan: PausePlan, by: Author) -> None:
    """Set the flags or pause the packages, and on request suspend running ones."""
    running = plan.request.options.running
    if plan.jobs:
        until = plan.request.options.end(by.now)
        pauses.pause_jobs(store, ids(store, plan), running=running, until=until, **by._asdict())
    else:
        pauses.pause(plan.selection, running=running, **by._asdict())


def ids(store: Store, plan: PausePlan) -> list[int]:
    """Return the ids of the jobs of a plan."""
    return [browse.job(store, name).id for name in plan.jobs]


def describe(plan: PausePlan) -> Iterator[str]:
    """Say what a pause would do."""
    if plan.jobs:
        idle = count(plan.packages, "package")
        rest = "; ".join(_with_running(plan))
        yield f"would pause {wording.jobs(plan)}: {idle} would not start; {rest}"
        yield from start_there(plan.queued, plan.jobs, *typed(plan.request.options))
    else:
        yield from wording.describe_packages(plan, "pause")
    yield from given_back(plan.given_back, "would be", "would be")
    yield from out_of_reach(plan, "is suspended", "are suspended")
    yield from _ends(plan, "would resume", "would be")
    if plan.replaced:
        yield f"the daemon would no longer resume {plan.replaced}"
    yield from suspension(plan.launched)


def _with_running(plan: PausePlan) -> Iterator[str]:
    """Say what becomes of packages that are running, and of those that are suspended already."""
    if not plan.request.options.running:
        yield "running packages continue"
        return
    if plan.launched or not (plan.suspended or plan.given_back):
        yield f"{count(plan.launched, 'running package')} would be suspended"
    if plan.suspended:
        yield f"{count(plan.suspended, 'suspended package')} would stay so until `d0ctl resume`"


def _ends(plan: PausePlan, resumes: str, be: str) -> Iterator[str]:
    """Say when the daemon resumes what is paused."""
    it, they = ("it", "it") if len(plan.jobs) == 1 else ("them", "they")
    if plan.end and plan.is_driven:
        yield f"the daemon {resumes} {it} {plan.end}"
    elif plan.end:
        yield f"no daemon is running: {they} {be} resumed {plan.end}, or once one runs after that"


def out_of_reach(plan: PausePlan, does: str, do: str) -> Iterator[str]:
    """Say what packages on nodes that do not answer do once these can be reached again."""
    if plan.silent:
        packages = count(plan.silent, f"package {does}", f"packages {do}")
        node = "its node" if plan.silent == 1 else "their nodes"
        yield f"{packages} once {node} can be reached again"


def report(plan: PausePlan) -> Iterator[str]:
    """Say what was paused, and what its packages keep."""
    yield from report_both(plan, "pause", "paused", "suspended")
    yield from given_back(plan.given_back, "is", "are")
    yield from out_of_reach(plan, "is suspended", "are suspended")
    yield from start_there(plan.queued, plan.jobs, *typed(plan.request.options))
    yield from _ends(plan, "resumes", "is" if len(plan.jobs) == 1 else "are")
    if plan.replaced:
        yield f"the daemon no longer resumes {plan.replaced}"
    yield from suspension(plan.launched)


def report_both(plan: PausePlan, verb: str, past: str, running: str) -> Iterator[str]:
    """Say what was done to whole jobs, or to packages."""
    launched = f"{wording.packages_are(plan.launched)} being {running}"
    yield from wording.report_both(plan, verb, past, *([launched] if plan.launched else []))


ACTION = Action(
    name="pause",
    help="Start no more packages; with --running, suspend running ones.",
    example="reco001 --running",
    past="paused",
    options=PauseOptions,
    plan=plan,
    act=pause,
    undo=lambda plan: None if plan.is_paused else undo.of_changed("resume", plan),
    describe=describe,
    report=report,
    is_flag=True,
    conflicts=frozenset({"resume", "finish", "remove"}),
    key="S",
    title="pause: start nothing new",
    ways=(Way("let running packages continue"),
          Way("suspend running packages, too", frozenset({"--running"}))),
)  # fmt: skip
