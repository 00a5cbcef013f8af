"""limit: how many packages of a job or stage run at once, and how many failures hold a job."""

from collections.abc import Iterator
from dataclasses import dataclass
from shlex import quote

from d0ctl.actions import undo
from d0ctl.actions.action import Action, Author, Plan, Request
from d0ctl.actions.option import Options, ValueType, value
from d0ctl.actions.selection import jobs_of
from d0ctl.errors import BadUsage, Refused
from d0ctl.select import Selector
from d0ctl.store.connection import Store
from d0ctl.store.jobs import job_limits
from d0ctl.store.views import browse
from d0ctl.store.views.shapes import JobSummary, StageSummary

NONE = 0
"""Stands for no limit."""

MOST = 1_000_000_000


def _read(text: str) -> int:
    if text == "none":
        return NONE
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and 0 < int(text) <= MOST):
        raise ValueError(f"a limit is a number from 1, or `none`, not `{text}`")
    return int(text)


def _word(limit: int | None) -> str:
    return str(limit or "none")


LIMIT = ValueType(_read, lambda limit: [_word(limit)])


@dataclass(frozen=True, slots=True)
class LimitOptions(Options):
    """Options of limit."""

    max_running: int | None = value(
        "--max-running", "N", "Largest number of packages on nodes at once, or `none`.",
        type=LIMIT, example="4", log=LIMIT.write,
    )  # fmt: skip
    max_failures: int | None = value(
        "--max-failures", "N", "Hold the job after this many failed packages, or `none`.",
        type=LIMIT, example="10", log=LIMIT.write,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitPlan(Plan):
    """The limits of a job or stage, as they are."""

    row: JobSummary | StageSummary
    brief: str
    max_running: int | None
    max_failures: int | None = None


def plan_limit(store: Store, request: Request[LimitOptions], now: float) -> LimitPlan:
    """Plan for one job or one stage. Raises BadUsage, NotFound or Refused."""
    target, options = request.target, request.options
    if not target.is_one or target.depth > 2:
        name = jobs_of(store, target)[0].name
        raise BadUsage(f"`{target.brief}` is not one job or one stage",
                       hint=f"d0ctl limit {name} --max-running 4")  # fmt: skip
    row = _row(store, target)
    if options.max_failures is not None and isinstance(row, StageSummary):
        raise BadUsage("--max-failures is for whole jobs",
                       hint=f"d0ctl limit {quote(target.job)} --max-failures 10")  # fmt: skip
    failures = row.max_failures if isinstance(row, JobSummary) else None
    plan = LimitPlan(request=request, row=row, brief=target.brief, max_running=row.max_running,
                     max_failures=failures, jobs=(target.job,))  # fmt: skip
    if (options.max_running, options.max_failures) != (None, None) and not list(_changes(plan)):
        raise Refused(f"`{target.brief}` has these limits already",
                      hint=f"d0ctl status {quote(target.path)}")  # fmt: skip
    return plan


def _row(store: Store, target: Selector) -> JobSummary | StageSummary:
    (job,) = jobs_of(store, target)
    return job if target.depth == 1 else browse.stage(store, job, target)


def _changes(plan: LimitPlan) -> Iterator[tuple[str, int | None, int]]:
    """Yield the name of each limit that changes, with its value before and after."""
    options = plan.request.options
    for name, before, after in (
        ("max-running", plan.max_running, options.max_running),
        ("max-failures", plan.max_failures, options.max_failures),
    ):
        if after is not None and (before or NONE) != after:
            yield name, before, after


def limit(store: Store, plan: LimitPlan, by: Author) -> None:
    """Change the row; the scheduler follows it in its next turn. Raises BadUsage."""
    changes = {name: after or None for name, _, after in _changes(plan)}
    if not changes:
        raise BadUsage("no limit is given", hint=f"d0ctl limit {quote(plan.brief)} --max-running 4")
    if "max-running" in changes:
        if isinstance(plan.row, JobSummary):
            job_limits.limit_job(store, plan.row.id, changes["max-running"])
        else:
            job_limits.limit_stage(store, plan.row.id, changes["max-running"])
    if "max-failures" in changes:
        job_limits.limit_failures(store, plan.row.id, changes["max-failures"])


def undo_limit(plan: LimitPlan) -> str | None:
    """Return the command that undoes it."""
    options = [word for name, before, _ in _changes(plan) for word in (f"--{name}", _word(before))]
    return undo.command("limit", undo.paths(plan.request.target), *options) if options else None


def describe(plan: LimitPlan) -> Iterator[str]:
    """Say what the limits would be."""
    yield f"would change limits of `{plan.brief}`: {_said(plan)}"


def report(plan: LimitPlan) -> Iterator[str]:
    """Say what the limits are now."""
    yield f"limits of `{plan.brief}`: {_said(plan)}"


def _said(plan: LimitPlan) -> str:
    changes = [
        f"{name} {_word(before)} -> {_word(after)}" for name, before, after in _changes(plan)
    ]
    return ", ".join(changes) or "no limit is given"


ACTION = Action(
    name="limit",
    help="Change how many packages run at once, and how many may fail.",
    more_help="Running packages continue. `none` lifts a limit.",
    example="reco001 --max-running 4",
    past="changed limits of",
    options=LimitOptions,
    plan=plan_limit,
    act=limit,
    undo=undo_limit,
    describe=describe,
    report=report,
    starts_packages=True,
    needs_values=True,
    key="B",
    title="limit: how many run at once",
)
