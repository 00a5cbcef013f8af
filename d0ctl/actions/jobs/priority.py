"""priority: which jobs or packages come first."""

from collections.abc import Iterator
from dataclasses import dataclass
from shlex import quote

from d0ctl.actions import undo, wording
from d0ctl.actions.action import Action, Author, Plan, Request
from d0ctl.actions.option import Options, ValueType, argument
from d0ctl.actions.selection import KILLABLE, changeable, is_whole_job, jobs_of
from d0ctl.errors import Refused
from d0ctl.model import Phase, by_status
from d0ctl.select import Selector
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.jobs.retry import keep_phases
from d0ctl.store.views import browse, selection
from d0ctl.units import count, listed

NOTHING_LEFT = "no package is left to start"

MOST_APART = 5
"""How many stages with a priority of their own are named."""


def _read(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 3 and int(text) <= 100):
        raise ValueError(f"a priority is a number from 0 to 100, not `{text}`")
    return int(text)


ABLE = KILLABLE | {Phase.FAILED}
"""Packages that may be scheduled, now or after a retry."""


def _present(store: Store, target: Selector, now: float) -> str:
    """Return the priority of jobs, or that of packages which may be scheduled; empty if none may.

    Raises NotFound.
    """
    if is_whole_job(target):
        found = [job.priority for job in jobs_of(store, target)]
    else:
        selected = selection.choose(store, target, now=now)
        keep_phases(selected, ABLE)
        found = lifecycle.priorities(selected)
    if not found:
        return ""
    return f"now {min(found)}" + (f" to {max(found)}" if min(found) < max(found) else "")


@dataclass(frozen=True, slots=True)
class PriorityOptions(Options):
    """Options of priority."""

    priority: int = argument(
        "NUMBER",
        "0 to 100; higher is scheduled first.",
        type=ValueType(_read),
        log=lambda number: [str(number)],
        present=_present,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorityPlan(Plan):
    """What another priority would change."""

    previous: tuple[int, ...]
    """The various priorities that packages have now, or that of each of the jobs."""
    apart: tuple[str, ...] = ()
    """Stages of the jobs with packages that have a priority of their own."""


def plan_priority(store: Store, request: Request[PriorityOptions], now: float) -> PriorityPlan:
    """Plan for whole jobs that have another priority now, or for packages of a part of one."""
    number = request.options.priority
    if not is_whole_job(request.target):
        split = changeable(store, request.target, ABLE, "given another priority", now)
        keep_phases(split.selected, ABLE)
        previous = tuple(lifecycle.priorities(split.selected))
        if previous == (number,):
            raise _same(request)
        return PriorityPlan(
            request=request, packages=split.packages, previous=previous, **split._asdict()
        )
    jobs = jobs_of(store, request.target)
    others = [job for job in jobs if job.priority != number]
    if not others:
        raise _same(request)
    return PriorityPlan(
        request=request,
        jobs=tuple(job.name for job in others),
        packages=sum(by_status(job.counts)["unscheduled"] for job in others),
        previous=tuple(job.priority for job in others),
        apart=tuple(
            f"{job.name}/{seq}"
            for job in others
            for seq in browse.stages_with_priority(store, job.id)
        ),
    )


def _same(request: Request[PriorityOptions]) -> Refused:
    target = request.target
    return Refused(f"`{target.brief}` has priority {request.options.priority} already",
                   hint=f"d0ctl status {quote(str(target.parts[0]))}")  # fmt: skip


def give_priority(store: Store, plan: PriorityPlan, by: Author) -> None:
    """Change the rows of the jobs, or the priority of the packages; the scheduler follows."""
    for name in plan.jobs:
        job = browse.job(store, name)
        lifecycle.set_priority(store, job.id, plan.request.options.priority)
    if not plan.jobs:
        lifecycle.give_priority(plan.selection, plan.request.options.priority)


def undo_priority(plan: PriorityPlan) -> str | None:
    """Return the commands that undo it, one for each priority that jobs had; None if that of
    packages differed.
    """
    if any(_lasting(plan)):
        return None
    if not plan.jobs:
        return undo.of_changed("priority", plan, str(plan.previous[0]))
    before: dict[int, list[str]] = {}
    for name, previous in zip(plan.jobs, plan.previous, strict=True):
        before.setdefault(previous, []).append(name)
    return " && ".join(
        undo.command("priority", names, str(previous)) for previous, names in before.items()
    )


def _lasting(plan: PriorityPlan) -> Iterator[str]:
    """Say why no command undoes it."""
    if not plan.jobs and len(set(plan.previous)) > 1:
        yield "can't be undone by one command: the packages had different priorities"


def describe(plan: PriorityPlan) -> Iterator[str]:
    """Say what the priority would be."""
    if not plan.jobs:
        yield f"would change the {_change(plan)}"
        yield from _lasting(plan)
        return
    idle = f"{count(plan.packages, 'package')} may start earlier or later"
    yield f"would change the {_change(plan)}; {idle if plan.packages else NOTHING_LEFT}"
    yield from _apart(plan)


def report(plan: PriorityPlan) -> Iterator[str]:
    """Say what the priority is now."""
    yield _change(plan)
    if not plan.packages:
        yield f"{NOTHING_LEFT}; the priority counts for packages that are retried"
    yield from _apart(plan)
    yield from _lasting(plan)


def _change(plan: PriorityPlan) -> str:
    number = plan.request.options.priority
    if plan.jobs and len(set(plan.previous)) > 1:
        return f"priority of {_of_each(plan)} -> {number}"
    previous = ", ".join(map(str, dict.fromkeys(plan.previous)))
    target = wording.jobs(plan) if plan.jobs else wording.packages(plan)
    return f"priority of {target}: {previous} -> {number}"


def _of_each(plan: PriorityPlan) -> str:
    """Name jobs with the priority that each has now."""
    names = [
        f"`{name}` ({previous})" for name, previous in zip(plan.jobs, plan.previous, strict=True)
    ]
    if len(names) > wording.MOST_NAMED:
        names[wording.MOST_NAMED :] = [f"{len(names) - wording.MOST_NAMED:,} more"]
    return f"jobs {listed(names)}"


def _apart(plan: PriorityPlan) -> Iterator[str]:
    """Say which stages have packages with a priority other than the job's."""
    if plan.apart:
        names = listed([f"`{path}`" for path in plan.apart[:MOST_APART]]
                       + ([f"{len(plan.apart) - MOST_APART:,} more"]
                          if len(plan.apart) > MOST_APART else []))  # fmt: skip
        yield f"packages of {names} have a priority of their own"


ACTION = Action(
    name="priority",
    help="Change the priority of jobs or packages.",
    more_help="Packages with a priority of their own do not follow that of their job.",
    example="reco001 80",
    past="changed the priority of",
    options=PriorityOptions,
    plan=plan_priority,
    act=give_priority,
    undo=undo_priority,
    describe=describe,
    report=report,
    is_flag=True,
    conflicts=frozenset({"remove"}),
    key="P",
    title="priority: what starts first",
)
