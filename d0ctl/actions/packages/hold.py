"""hold: keep jobs or packages from being scheduled."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from d0ctl.actions import undo, wording
from d0ctl.actions.action import Action, Author, Plan, Request
from d0ctl.actions.option import Options
from d0ctl.actions.selection import (
    HOLDABLE,
    changeable,
    has_ended,
    is_whole_job,
    jobs_of,
    startable,
)
from d0ctl.errors import Refused
from d0ctl.model import Phase
from d0ctl.policy.remarks import own_words
from d0ctl.sitefile.defaults import PAUSE_GRACE_S
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.views import browse
from d0ctl.store.views.shapes import JobSummary
from d0ctl.units import count

QUEUED = (Phase.STARTING, Phase.STAGING_IN)
"""Phases of packages that are on a node, where they start by themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldPlan(Plan):
    """What holding would do."""

    queued: int = 0
    """How many packages of whole jobs are queued on nodes, and start."""


def plan(store: Store, request: Request[Options], now: float) -> Plan:
    """Plan to set the flag of whole jobs, or to hold the packages of a part of one."""
    if not is_whole_job(request.target):
        return of_packages(store, request, HOLDABLE, "held", now)
    jobs = jobs_of(store, request.target)
    free = [job for job in jobs if not job.hold and not has_ended(job)]
    if not free and len(jobs) == 1:
        job = jobs[0]
        if job.hold:
            note = own_words(job.hold_note)
            by = f" by {job.hold_actor}" + (f" ({note})" if note else "")
            raise Refused(f"job `{job.name}` is held{by}, so it can't be held again",
                          hint=f"d0ctl release {job.name}")  # fmt: skip
        raise Refused(f"job `{job.name}` is {job.status}, so it can't be held",
                      hint=f"d0ctl status {job.name}")  # fmt: skip
    held = of_jobs(store, request, free, "held")
    queued = sum(job.counts.get(phase, 0) for job in free for phase in QUEUED)
    return HoldPlan(request=request, jobs=held.jobs, packages=held.packages, queued=queued)


def of_packages(
    store: Store, request: Request[Options], able: frozenset[Phase], past: str, now: float
) -> Plan:
    """Plan to change the packages of a part of a job."""
    split = changeable(store, request.target, able, past, now)
    return Plan(request=request, packages=split.packages, **split._asdict())


def of_jobs(store: Store, request: Request[Options], jobs: list[JobSummary], past: str) -> Plan:
    """Plan to change the flag of whole jobs."""
    if not jobs:
        raise Refused(f"no job of `{request.target.brief}` can be {past}")
    return Plan(request=request, jobs=tuple(job.name for job in jobs),
                packages=startable(store, jobs))  # fmt: skip


def hold(store: Store, plan: Plan, by: Author) -> None:
    """Set the flags, or hold the packages."""
    for name in plan.jobs:
        lifecycle.hold_job(store, browse.job(store, name).id, actor=by.actor, note=by.note,
                           now=by.now)  # fmt: skip
    if not plan.jobs:
        lifecycle.hold(plan.selection, actor=by.actor, note=by.note, now=by.now)


def _undo(plan: Plan) -> str | None:
    """Return the command that releases the packages, but not those that were held before."""
    if plan.request.target.is_filtered or plan.unchanged.get(Phase.HELD):
        return undo.of_changed("release", plan, has_others=True)
    return undo.command("release", undo.in_state(plan, Phase.HELD))


def describe(plan: Plan) -> Iterator[str]:
    """Say what holding would do."""
    if plan.jobs:
        idle = count(plan.packages, "package")
        yield f"would hold {wording.jobs(plan)}: {idle} would not start; running packages continue"
        yield from _queued(plan)
    else:
        yield from wording.describe_packages(plan, "hold")


def report(plan: Plan) -> Iterator[str]:
    """Say which jobs or packages are held."""
    yield from wording.report_both(plan, "hold", "held", *_queued(plan))


def _queued(plan: Plan) -> Iterator[str]:
    if isinstance(plan, HoldPlan):
        yield from start_there(plan.queued, plan.jobs)


def start_there(queued: int, jobs: Sequence[str], *options: str) -> Iterator[str]:
    """Say that packages which nodes have already start there, and how to stop them, in a pause
    with some options.
    """
    if queued:
        start = count(queued, "package queued on a node starts", "packages queued on nodes start")
        command = shlex.join(["d0ctl", "pause", *jobs, "--running", *options])
        yield f"{start} nevertheless: `{command}` prevents that, and suspends running ones"


def given_back(number: int, be: str, be_all: str) -> Iterator[str]:
    """Say that nodes give back packages that they have not begun."""
    if number:
        queued = count(number, "package queued on a node", "packages queued on nodes")
        one_has = "unless it has" if number == 1 else "unless they have"
        yield f"{queued} {be if number == 1 else be_all} given back, {one_has} begun by then"


def suspension(running: int) -> Iterator[str]:
    """Say when running packages are suspended, and that they give nothing back to their nodes."""
    if running:
        yield (f"running packages have up to {PAUSE_GRACE_S:g} s to pause by themselves before "
               "they are stopped; short ones may end first")  # fmt: skip
        yield ("suspended packages keep their CPUs and memory until they are resumed or killed, "
               "so other packages can't use these")  # fmt: skip


ACTION = Action(
    name="hold",
    help="Keep jobs or packages from being scheduled.",
    more_help="Packages on nodes continue, also those queued there. Holding a whole job does not "
    "change its packages. To hold a job for some time: d0ctl pause JOB --for 1h.",
    example="'reco001/2/*:ready' --reason 'bad calibration'",
    past="held",
    options=Options,
    plan=plan,
    act=hold,
    undo=_undo,
    describe=describe,
    report=report,
    is_flag=True,
    conflicts=frozenset({"release", "finish", "remove"}),
    key="H",
    title="hold: do not schedule",
)
