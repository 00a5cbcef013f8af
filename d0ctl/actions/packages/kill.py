"""kill: end packages for good, running or not."""

from collections.abc import Iterator
from dataclasses import dataclass

from d0ctl.actions import undo, wording
from d0ctl.actions.action import Action, Author, Plan, Request, Way
from d0ctl.actions.option import Options, flag
from d0ctl.actions.selection import KILLABLE, canceled_before, changeable
from d0ctl.model import Phase
from d0ctl.select import Selector
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.jobs.retry import in_phases
from d0ctl.store.nodes.site import default
from d0ctl.store.views import dependencies, selection
from d0ctl.units import count, duration

WAIT = "packages that need their outputs will keep waiting"


@dataclass(frozen=True, slots=True)
class KillOptions(Options):
    """Options of kill."""

    partial: bool = flag("--partial", "Keep the files made so far, marked partial.")


@dataclass(frozen=True, slots=True, kw_only=True)
class KillPlan(Plan):
    """What a kill would do."""

    grace: float | None = None
    """How many seconds binaries have to end by themselves, if their outputs are kept."""
    is_awaited: bool = False
    """Whether other packages wait for these."""
    before: int = 0
    """How many packages of the same parts are canceled already."""
    bound: int = 0
    """How many are unreachable, and have inputs that only nodes have that are down."""


def plan_kill(store: Store, request: Request[KillOptions], now: float) -> KillPlan:
    """Plan for packages that have not ended, and for those being killed that could end sooner."""
    partial = request.options.partial
    bound = _bound(store, request.target, now)  # first: it selects, too
    split = changeable(store, request.target, KILLABLE, "killed", now, hastens=not partial)
    return KillPlan(request=request, packages=split.packages, grace=grace(store, partial),
                    is_awaited=lifecycle.is_awaited(split.selected),
                    before=canceled_before(store, request.target, split),
                    bound=bound, **split._asdict())  # fmt: skip


def _bound(store: Store, target: Selector, now: float) -> int:
    """Count the unreachable packages that a retry would not run before nodes are back."""
    if not (rows := dependencies.unreachable_bound(store)):
        return 0
    selected = selection.choose(store, target, now=now)
    return len(in_phases(selected, [Phase.UNREACHABLE]) & {row["id"] for row in rows})


def grace(store: Store, partial: bool) -> float | None:
    """Return how many seconds binaries have to end by themselves; None if they have none."""
    return default(store, "partial-grace") if partial else None


def kill(store: Store, plan: KillPlan, by: Author) -> None:
    """Kill the packages."""
    lifecycle.kill(plan.selection, actor=by.actor, note=by.note_or("killed"), now=by.now,
                   partial=plan.request.options.partial)  # fmt: skip


def describe(plan: KillPlan) -> Iterator[str]:
    """Say what a kill would do."""
    yield from wording.describe_packages(plan, "kill")
    partial = plan.request.options.partial
    yield from out_of_reach(plan.phases.get(Phase.UNREACHABLE, 0), partial=partial)
    yield from _waits(plan)
    yield from describe_grace(plan.grace if undo.by_wrappers(plan) else None)
    if plan.packages and plan.is_awaited:
        yield WAIT
    yield from undo.lasting(plan.undo, plan.before)


def _waits(plan: KillPlan) -> Iterator[str]:
    """Say that a retry does not run packages elsewhere whose inputs can't be copied."""
    if plan.bound:
        runs = count(plan.bound, "package would wait", "packages would wait")
        its = "its" if plan.bound == 1 else "their"
        yield f"after a retry, {runs}: only nodes that are down have {its} inputs"


def describe_grace(grace: float | None) -> Iterator[str]:
    """Say how long binaries have to end by themselves."""
    if grace is not None:
        yield (f"a running binary has {duration(grace)} to end by itself; "
               "a second kill ends it at once")  # fmt: skip


def report(plan: KillPlan) -> Iterator[str]:
    """Say what was killed; packages that their wrappers end may succeed before that."""
    if plan.packages and undo.by_wrappers(plan) == plan.packages:
        yield f"asked {wording.packages(plan)} to end"
    else:
        yield from wording.report_packages(plan, "kill", "killed")
    yield from being_killed(plan, partial=plan.request.options.partial)
    yield from _waits(plan)
    yield from wording.unchanged(plan)
    yield from undo.lasting(plan.undo, plan.before)
    yield from undo.unheld(plan)


def being_killed(plan: Plan, *, partial: bool = False) -> Iterator[str]:
    """Say how many packages are still to be ended by their wrappers.

    Packages on a node that does not answer, or that ran to their end, are canceled at once.
    """
    if ending := undo.by_wrappers(plan):
        node = "its node" if ending == 1 else "their nodes"
        among = "" if ending == plan.packages else "of these, "
        yield f"{among}{wording.packages_are(ending)} being killed on {node}"
    yield from out_of_reach(plan.phases.get(Phase.UNREACHABLE, 0), partial=partial)


def out_of_reach(silent: int, *, partial: bool = False) -> Iterator[str]:
    """Say that packages on nodes that do not answer run on there until these do.

    They are canceled already then, so that nothing is kept of what they have made.
    """
    if silent:
        runs = count(silent, "package runs", "packages run")
        node, whose = ("its node", "its") if silent == 1 else ("their nodes", "their")
        ends = f"end{'s' * (silent == 1)}" + f"; {whose} files are not kept" * partial
        yield f"{runs} on until {node} can be reached again, and then {ends}"


ACTION = Action(
    name="kill",
    help="End packages for good, with all their processes.",
    example="'reco001/2/*:running' --partial",
    past="killed",
    options=KillOptions,
    plan=plan_kill,
    act=kill,
    undo=lambda plan: undo.of_cancel(plan, plan.before),
    describe=describe,
    report=report,
    question="do that?",
    destroys=True,
    key="K",
    title="kill: end packages",
    ways=(
        Way("discard the files made so far"),
        Way("keep the files made so far, marked partial", frozenset({"--partial"})),
    ),
)
