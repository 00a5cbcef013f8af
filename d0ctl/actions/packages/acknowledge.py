"""acknowledge: mark failures as seen, so that they need nobody any more."""

from collections.abc import Iterator
from dataclasses import dataclass

from d0ctl.actions import undo, wording
from d0ctl.actions.action import Action, Author, Plan, Request, Way
from d0ctl.actions.option import Options, flag
from d0ctl.actions.selection import nothing_for, split_selected
from d0ctl.errors import Refused
from d0ctl.model import Phase
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.jobs import acknowledge
from d0ctl.store.views import selection


@dataclass(frozen=True, slots=True)
class AcknowledgeOptions(Options):
    """Options of acknowledge."""

    withdraw: bool = flag("--withdraw", "Have acknowledged failures need a person again.")


def plan(store: Store, request: Request[AcknowledgeOptions], now: float) -> Plan:
    """Plan for failures that are not acknowledged, or with `--withdraw` for those that are."""
    withdraw, target = request.options.withdraw, request.target
    selected = selection.choose(store, target, now=now)
    everything = lifecycle.phases(selected)
    acknowledge.narrow(selected, acknowledged=withdraw)
    split = split_selected(selected, frozenset({Phase.FAILED}))
    if not split.packages and not everything.get(Phase.FAILED):
        if withdraw:
            raise nothing_for(selected, target, everything, "withdrawn", "acknowledgement")
        raise nothing_for(selected, target, everything, "acknowledged")
    if not split.packages:
        already = "not acknowledged" if withdraw else "acknowledged already"
        raise Refused(f"the failures of `{target.brief}` are {already}")
    return Plan(request=request, packages=split.packages, **split._asdict())


def act(store: Store, plan: Plan, by: Author) -> None:
    """Acknowledge the failures, or withdraw that."""
    if plan.request.options.withdraw:
        acknowledge.withdraw(plan.selection, now=by.now)
    else:
        acknowledge.acknowledge(plan.selection, actor=by.actor, note=by.note, now=by.now)


def _undo(plan: Plan) -> str | None:
    """Return the command for just these packages: others may fail, and be acknowledged, later."""
    back = () if plan.request.options.withdraw else ("--withdraw",)
    return undo.of_changed("acknowledge", plan, *back, has_others=True)


def describe(plan: Plan) -> Iterator[str]:
    """Say which failures would be acknowledged."""
    if plan.request.options.withdraw:
        yield from wording.describe_packages(plan, "withdraw the acknowledgement of")
    else:
        yield from wording.describe_packages(plan, "acknowledge")


def report(plan: Plan) -> Iterator[str]:
    """Say which failures are acknowledged now."""
    if plan.request.options.withdraw:
        yield from wording.report_packages(plan, "withdraw", "withdrew the acknowledgement of")
    else:
        yield from wording.report_packages(plan, "acknowledge", "acknowledged")


ACTION = Action(
    name="acknowledge",
    help="Mark failures as seen: they need nobody any more.",
    more_help="The packages stay failed. A new failure of a package counts again.",
    example="'reco001:failed' --reason 'bad input, reported to the producers'",
    past="acknowledged",
    options=AcknowledgeOptions,
    plan=plan,
    act=act,
    undo=_undo,
    describe=describe,
    report=report,
    key="Y",
    title="acknowledge failures",
    ways=(Way("acknowledge them"), Way("have them need a person again", frozenset({"--withdraw"}))),
)
