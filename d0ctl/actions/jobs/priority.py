"""priority: which jobs come first."""

from collections.abc import Iterator
from dataclasses import dataclass

from d0ctl.actions import undo, wording
from d0ctl.actions.action import Action, Author, Plan, Request
from d0ctl.actions.option import Options, ValueType, argument
from d0ctl.actions.selection import is_whole_job, jobs_of
from d0ctl.errors import BadUsage, Refused
from d0ctl.model import by_status
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.views import browse
from d0ctl.units import count

NOTHING_LEFT = "no package is left to start"


def _read(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 3 and int(text) <= 100):
        raise ValueError(f"a priority is a number from 0 to 100, not `{text}`")
    return int(text)


@dataclass(frozen=True, slots=True)
class PriorityOptions(Options):
    """Options of priority."""

    priority: int = argument(
        "NUMBER", "0 to 100; higher is scheduled first.", type=ValueType(_read)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorityPlan(Plan):
    """What another priority would change."""

    previous: tuple[int, ...]
    """The different priorities that the jobs have now."""


def plan_priority(store: Store, request: Request[PriorityOptions], now: float) -> PriorityPlan:
    """Plan for whole jobs that have another priority now."""
    number = request.options.priority
    if not is_whole_job(request.target):
        raise BadUsage(f"`{request.target.brief}` is not a job, and only jobs have a priority",
                       hint=f"d0ctl priority {request.target.job} {number}")  # fmt: skip
    jobs = jobs_of(store, request.target)
    others = [job for job in jobs if job.priority != number]
    if not others:
        raise Refused(f"`{request.target.brief}` has priority {number} already",
                      hint=f"d0ctl status {request.target.parts[0]}")  # fmt: skip
    return PriorityPlan(
        request=request,
        jobs=tuple(job.name for job in others),
        packages=sum(by_status(job.counts)["unscheduled"] for job in others),
        previous=tuple(sorted({job.priority for job in others})),
    )


def give_priority(store: Store, plan: PriorityPlan, by: Author) -> None:
    """Change the rows of the jobs; the scheduler follows them."""
    for name in plan.jobs:
        job = browse.job(store, name)
        lifecycle.set_priority(store, job.id, plan.request.options.priority)


def undo_priority(plan: PriorityPlan) -> str | None:
    """Return the command that undoes it; None if the jobs had different priorities."""
    if len(plan.previous) > 1:
        return None
    return undo.command("priority", undo.paths(plan.request.target), str(plan.previous[0]))


def describe(plan: PriorityPlan) -> Iterator[str]:
    """Say what the priority would be."""
    idle = f"{count(plan.packages, 'package')} may start earlier or later"
    yield f"would change the {_change(plan)}; {idle if plan.packages else NOTHING_LEFT}"


def report(plan: PriorityPlan) -> Iterator[str]:
    """Say what the priority is now."""
    yield _change(plan)
    if not plan.packages:
        yield f"{NOTHING_LEFT}; the priority counts for packages that are retried"


def _change(plan: PriorityPlan) -> str:
    previous = ", ".join(map(str, plan.previous))
    return f"priority of {wording.jobs(plan)}: {previous} -> {plan.request.options.priority}"


ACTION = Action(
    name="priority",
    help="Change the priority of jobs.",
    example="reco001 80",
    past="changed the priority of",
    options=PriorityOptions,
    plan=plan_priority,
    act=give_priority,
    undo=undo_priority,
    describe=describe,
    report=report,
    level="job",
    is_flag=True,
    conflicts=frozenset({"remove"}),
    key="P",
    title="priority of jobs",
)
