"""release: allow held jobs or packages to be scheduled again."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from d0ctl.actions import undo, wording
from d0ctl.actions.action import Action, Author, Plan, Request
from d0ctl.actions.option import Options
from d0ctl.actions.packages.hold import of_jobs
from d0ctl.actions.selection import changeable, cooling, is_whole_job, jobs_of
from d0ctl.errors import Refused
from d0ctl.model import Phase
from d0ctl.store import lifecycle
from d0ctl.store.attempts.alike_failures import stopped_jobs
from d0ctl.store.connection import Store
from d0ctl.store.jobs.correction.texts import is_changed_on_disk
from d0ctl.store.views import browse
from d0ctl.units import count


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasePlan(Plan):
    """Which jobs or packages would go on."""

    edited: tuple[str, ...] = ()
    """The jobs held by d0ctl whose job files were changed since."""
    held: tuple[str, ...] = ()
    """The jobs of released packages that stay held themselves."""
    paused: tuple[str, ...] = ()
    """The jobs that stay paused."""
    cooling: Mapping[str, int] = field(default_factory=dict, compare=False)
    """How many of the packages of whole jobs are cooling off, by job."""


def plan(store: Store, request: Request[Options], now: float) -> ReleasePlan:
    """Plan to clear the flag of whole jobs, or to release the held packages of a part of one."""
    if not is_whole_job(request.target):
        split = changeable(store, request.target, frozenset({Phase.HELD}), "released", now)
        stopped = stopped_jobs(split.selected)
        return ReleasePlan(request=request, packages=split.packages, **split._asdict(),
                           held=tuple(job.name for job in stopped if job.is_held),
                           paused=tuple(job.name for job in stopped if job.is_paused))  # fmt: skip
    jobs = jobs_of(store, request.target)
    held = [job for job in jobs if job.hold]
    if not held and len(jobs) == 1:
        job = jobs[0]
        parts = job.counts.get("held", 0)
        some = count(parts, "package is", "packages are")
        as_a_whole = " as a whole" if parts else ""
        verb = browse.verb_of_held(store, job.id)
        state = "paused" if verb == "resume" else "held"
        hint = f"{some} {state}: `d0ctl {verb} '{job.name}:held'`" if parts else (
            f"d0ctl why {job.name}")  # fmt: skip
        raise Refused(f"job `{job.name}` is not held{as_a_whole}, so it can't be released",
                      hint=hint)  # fmt: skip
    released = of_jobs(store, request, held, "released")
    edited = tuple(job.name for job in held
                   if job.is_held_by_d0ctl and is_changed_on_disk(store, job.id))  # fmt: skip
    paused = tuple(job.name for job in held if job.pause)
    return ReleasePlan(request=request, jobs=released.jobs, packages=released.packages,
                       edited=edited, paused=paused, cooling=cooling(held))  # fmt: skip


def release(store: Store, plan: Plan, by: Author) -> None:
    """Clear the flags, or release the packages."""
    for name in plan.jobs:
        lifecycle.release_job(store, browse.job(store, name).id, now=by.now)
    if not plan.jobs:
        lifecycle.release(plan.selection, actor=by.actor, note=by.note, now=by.now)


def describe(plan: Plan) -> Iterator[str]:
    """Say what releasing would do."""
    if plan.jobs:
        later = plan.cooling if isinstance(plan, ReleasePlan) else {}
        able = count(plan.packages - sum(later.values()), "package")
        yield f"would release {wording.jobs(plan)}: {able} could start"
        yield from wording.start_later(later)
    else:
        yield from wording.describe_packages(plan, "release")
    yield from _stays_stopped(plan)
    yield from _edited(plan)


def report(plan: Plan) -> Iterator[str]:
    """Say what was released."""
    yield from wording.report_both(plan, "release", "released")
    yield from _stays_stopped(plan)
    yield from _edited(plan)


def _stays_stopped(plan: Plan) -> Iterator[str]:
    if isinstance(plan, ReleasePlan) and plan.packages:
        yield from wording.start_nothing(plan.held, plan.paused)


def _edited(plan: Plan) -> Iterator[str]:
    for job in plan.edited if isinstance(plan, ReleasePlan) else ():
        yield wording.changed_job_file(job, "a release runs the job")


ACTION = Action(
    name="release",
    help="Allow held jobs or packages to be scheduled again.",
    example="reco001",
    past="released",
    options=Options,
    plan=plan,
    act=release,
    undo=lambda plan: undo.of_changed("hold", plan),
    describe=describe,
    report=report,
    starts_packages=True,
    is_flag=True,
    conflicts=frozenset({"finish", "remove"}),
    key="L",
    title="release: schedule again",
)
