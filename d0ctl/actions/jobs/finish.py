"""finish: start no more packages; let running ones end (soft) or end them (hard) (JEDI)."""

from collections.abc import Iterator
from dataclasses import dataclass

from d0ctl.actions import undo, wording
from d0ctl.actions.action import Action, Author, Plan, Request, Way
from d0ctl.actions.option import Options, flag
from d0ctl.actions.packages.kill import (
    WAIT,
    being_killed,
    describe_grace,
    grace,
    out_of_reach,
)
from d0ctl.actions.selection import (
    HOLDABLE,
    KILLABLE,
    canceled_before,
    changeable,
    has_ended,
    is_whole_job,
    jobs_of,
)
from d0ctl.errors import BadUsage, Refused
from d0ctl.model import LIVE, Phase
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.jobs import pause as pauses
from d0ctl.store.jobs.finish import finish_jobs, sweep_all
from d0ctl.store.views import browse
from d0ctl.store.views.shapes import JobSummary
from d0ctl.units import count, moment

IDLE = HOLDABLE | {Phase.HELD}


@dataclass(frozen=True, slots=True)
class FinishOptions(Options):
    """Options of finish."""

    soft: bool = flag("--soft", "Let running packages end by themselves (default).")
    hard: bool = flag("--hard", "Kill running packages, too.")
    partial: bool = flag("--partial", "With --hard: keep the files made so far, marked partial.")


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishPlan(Plan):
    """What finishing would do."""

    idle: int = 0
    """How many packages of whole jobs are canceled at once."""
    launched: int = 0
    """How many packages of whole jobs are launched."""
    silent: int = 0
    """How many of these are on nodes that do not answer."""
    emptied: tuple[str, ...] = ()
    """The whole jobs of which packages are canceled."""
    stopped: tuple[str, ...] = ()
    """The whole jobs that are held or paused."""
    grace: float | None = None
    """How many seconds binaries have to end by themselves, if their outputs are kept."""
    is_awaited: bool = False
    """Whether packages outside of a part that ends wait for it."""
    before: int = 0
    """How many packages of the same jobs or parts are canceled already."""
    instead: str = ""
    """The command that ends a job with what it has, so that its later stages run; empty if none."""


def plan_finish(store: Store, request: Request[FinishOptions], now: float) -> FinishPlan:
    """Plan to set the flag of whole jobs, or to end the packages of a part of one."""
    options = request.options
    if options.soft and options.hard:
        raise BadUsage("--soft and --hard exclude each other")
    time = grace(store, options.partial)
    if not is_whole_job(request.target):
        able = KILLABLE if options.hard else IDLE
        hastens = options.hard and not options.partial
        split = changeable(store, request.target, able, "finished", now, hastens=hastens)
        silent = split.phases.get(Phase.UNREACHABLE, 0)
        return FinishPlan(request=request, packages=split.packages, grace=time, silent=silent,
                          is_awaited=lifecycle.is_awaited(split.selected),
                          before=canceled_before(store, request.target, split),
                          **split._asdict())  # fmt: skip
    jobs = jobs_of(store, request.target)
    free = [job for job in jobs if not has_ended(job) and _goes_beyond(job, options)]
    if not free:
        raise _not_finishable(jobs, request, now)
    ends = KILLABLE if options.hard else IDLE
    emptied = [job for job in free if any(job.counts.get(phase) for phase in ends)]
    return FinishPlan(
        request=request,
        jobs=tuple(job.name for job in free),
        packages=sum(sum(job.counts.get(phase, 0) for phase in ends) for job in free),
        idle=sum(sum(job.counts.get(phase, 0) for phase in IDLE) for job in free),
        launched=sum(sum(job.counts.get(phase, 0) for phase in LIVE) for job in free),
        silent=sum(job.counts.get(Phase.UNREACHABLE, 0) for job in free),
        emptied=tuple(job.name for job in emptied),
        stopped=tuple(job.name for job in free if job.hold or job.pause),
        grace=time,
        before=sum(job.counts.get(Phase.CANCELED, 0) for job in emptied),
        instead=_instead(store, free[0]) if len(free) == 1 else "",
    )


def _instead(store: Store, job: JobSummary) -> str:
    """Return the command after which later stages read what the first open one has made so far."""
    stages = browse.stages(store, job)
    for number, stage in enumerate(stages, 1):
        if any(map(stage.counts.get, IDLE | set(LIVE))):
            waits = any(later.counts.get(Phase.WAITING) for later in stages[number:])
            rest = f"{job.name}/{stage.seq}/*:unscheduled,scheduled,launched,failed,canceled"
            is_useful = waits and stage.counts.get(Phase.DONE)
            return undo.command("kill-line", [rest], "--drop-outputs") if is_useful else ""
    return ""


def _goes_beyond(job: JobSummary, options: FinishOptions) -> bool:
    if job.finish is None or (options.hard and job.finish == "soft"):
        return True
    return options.hard and not options.partial and job.counts.get(Phase.KILLING, 0) > 0


def _not_finishable(jobs: list[JobSummary], request: Request[FinishOptions], now: float) -> Refused:
    if len(jobs) > 1:
        return Refused(f"no job of `{request.target.brief}` can be finished", hint="d0ctl status")
    job = jobs[0]
    if has_ended(job):
        return Refused(f"job `{job.name}` is {job.status}, so it can't be finished",
                       hint=f"d0ctl status {job.name}")  # fmt: skip
    hard = f"d0ctl finish {job.name} --hard kills running packages"
    return Refused(
        f"job `{job.name}` has been finishing since {moment(job.finish_since, now)}, "
        f"as {job.finish_actor} requested",
        hint=f"d0ctl status {job.name}" if request.options.hard else hard,
    )


def finish(store: Store, plan: FinishPlan, by: Author) -> None:
    """Set the flags, and on request kill running packages; or end the packages."""
    options: FinishOptions = plan.request.options
    note = by.note_or("finished")
    if plan.jobs:
        jobs = [browse.job(store, name) for name in plan.jobs]
        # it ends their pauses, and packages that these suspended would never end
        pauses.resume_jobs(store, [job.id for job in jobs if job.pause], **by._asdict())
        for job in jobs:
            lifecycle.release_job(store, job.id, now=by.now)
        selected = finish_jobs(store, [job.id for job in jobs], hard=options.hard, **by._asdict())
    else:
        selected = plan.selection
    if options.hard:
        lifecycle.kill(selected, actor=by.actor, note=note, now=by.now, partial=options.partial)
    elif not plan.jobs:
        lifecycle.cancel_idle(selected, actor=by.actor, note=note, now=by.now)


def cancel_rest(store: Store, plan: FinishPlan, now: float) -> None:
    """Cancel the packages of the jobs that are not launched, by short transactions."""
    if plan.jobs:
        sweep_all(store)


def undo_finish(plan: FinishPlan) -> str | None:
    """Return the command that undoes it; None if no package is canceled."""
    if not plan.jobs or plan.before:
        return undo.of_cancel(plan, plan.before)
    targets = [f"{name}:canceled" for name in plan.emptied]
    return undo.command("retry", targets) if targets else None


def describe(plan: FinishPlan) -> Iterator[str]:
    """Say what finishing would do."""
    if not plan.jobs:
        yield from wording.describe_packages(plan, "finish")
        yield from _describe_end(plan)
        if plan.is_awaited:
            yield WAIT
        yield from undo.lasting(plan.undo, plan.before)
        return
    own_end = "its end" if plan.launched == 1 else "their ends"
    ends = "be killed" if plan.request.options.hard else f"continue to {own_end}"
    running = f"; {count(plan.launched, 'running package')} would {ends}" if plan.launched else ""
    yield f"would finish {wording.jobs(plan)}: {_number(plan.idle)} would be canceled{running}"
    if plan.instead:
        yield f"later stages would not run; to run them with what is there: {plan.instead}"
    yield from _describe_end(plan)
    yield from undo.lasting(plan.undo, plan.before)


def _describe_end(plan: FinishPlan) -> Iterator[str]:
    """Say how packages that are killed would end."""
    if plan.request.options.hard:
        yield from out_of_reach(plan.silent, partial=plan.request.options.partial)
        ending = plan.launched - plan.silent if plan.jobs else undo.by_wrappers(plan)
        yield from describe_grace(plan.grace if ending else None)


def report(plan: FinishPlan) -> Iterator[str]:
    """Say what was finished."""
    if plan.jobs:
        yield f"finished {wording.jobs(plan)}"
        hard, partial = plan.request.options.hard, plan.request.options.partial
        silent = plan.silent if hard else 0
        launched, state = plan.launched - silent, "being killed" if hard else "still running"
        running = f", {count(launched)} {state}" if launched else ""
        yield f"{_number(plan.idle + silent)} canceled{running}"
        yield from out_of_reach(silent, partial=partial)
        yield from undo.lasting(plan.undo, plan.before)
        yield from _freed(plan)
        return
    yield from wording.report_packages(plan, "finish", "finished")
    if plan.request.options.hard:
        yield from being_killed(plan, partial=plan.request.options.partial)
    yield from wording.unchanged(plan)
    yield from undo.lasting(plan.undo, plan.before)
    yield from undo.unheld(plan)


def _freed(plan: FinishPlan) -> Iterator[str]:
    """Say that holds and pauses of the jobs have ended, and do not come back by an undo."""
    if plan.stopped and plan.undo:
        were = count(len(plan.stopped), "of the jobs was", "of the jobs were")
        it_was = "it was" if len(plan.jobs) == 1 else were
        yield f"{it_was} held or paused: after an undo, packages start"


def _number(packages: int) -> str:
    return count(packages, "package") if packages else "no package"


ACTION = Action(
    name="finish",
    help="Start no more packages; with --hard, kill running ones.",
    example="reco001 --hard --partial",
    past="finished",
    options=FinishOptions,
    plan=plan_finish,
    act=finish,
    follow=cancel_rest,
    undo=undo_finish,
    describe=describe,
    report=report,
    question="do that?",
    destroys=True,
    is_flag=True,
    conflicts=frozenset({"retry", "remove"}),
    key="E",
    title="finish: start no more",
    ways=(
        Way("let running packages end"),
        Way("kill running packages, too", frozenset({"--hard"})),
        Way("kill running packages, keep their files", frozenset({"--hard", "--partial"})),
    ),
)
