"""edit: change the requests of packages that have not started."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from d0ctl.actions import undo, wording
from d0ctl.actions.action import Action, Author, Conflict, Plan, Request
from d0ctl.actions.new_requests import NewRequests, away, restoring
from d0ctl.actions.option import typed
from d0ctl.actions.retryable import without_node
from d0ctl.actions.selection import changeable, split_selected
from d0ctl.errors import BadUsage, Refused
from d0ctl.model import Phase
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.jobs import retry
from d0ctl.store.views import selection
from d0ctl.units import count, listed

EDITABLE = frozenset({Phase.WAITING, Phase.READY, Phase.COOLOFF, Phase.HELD})
"""Packages that have no node."""

NOTHING = "no request is given"

EXAMPLE = "e.g. --cpus 2"


@dataclass(frozen=True, slots=True, kw_only=True)
class EditPlan(Plan):
    """What an edit would change."""

    refused: Mapping[str, int]
    """How many packages are left alone because no node could take them, by reason."""
    previous: Mapping[str, set[Any]]
    """What the packages request now, of the requests that would change."""
    was_unfit: bool
    """Whether no node can take some of them as they are."""
    away: tuple[str, ...]
    """What is said of the named nodes if they take no packages now."""


def plan_edit(store: Store, request: Request[NewRequests], now: float) -> EditPlan:
    """Plan for packages that have no node, except those that no node could take afterwards."""
    for node in request.options.named_nodes:
        selection.check_node(store, node)
    try:
        split = changeable(store, request.target, EDITABLE, "edited", now)
    except Conflict as refusal:
        raise _offering_retry(refusal, store, request, now) from None
    retry.keep_phases(split.selected, EDITABLE)
    previous = request.options.previous(split.selected)
    has_values = bool(request.options.descriptions)  # a person may ask first, and then type them
    was_unfit = has_values and bool(without_node(split.selected, {}, now))
    reasons = without_node(split.selected, request.options.requirement, now) if has_values else {}
    retry.leave_out(split.selected, reasons)
    left = split_selected(split.selected, EDITABLE)
    refused = Counter(reasons.values())
    if not left.packages:
        (why, _), *_ = refused.most_common()
        raise Refused(f"`{request.target.brief}` can't be edited: {why}", hint="d0ctl node list")
    return EditPlan(
        request=request, packages=left.packages, refused=dict(refused),
        previous=previous, was_unfit=was_unfit,
        away=tuple(away(store, request.options.named_nodes)),
        **left._replace(unchanged=split.unchanged)._asdict(),
    )  # fmt: skip


def _offering_retry(
    refusal: Conflict, store: Store, request: Request[NewRequests], now: float
) -> Conflict:
    """Name the retry with the same options, which changes the requests of failed packages."""
    if Phase.FAILED in lifecycle.phases(selection.choose(store, request.target, now=now)):
        arguments = request.target.arguments
        refusal.hint = undo.command("retry", arguments, *typed(request.options))
    return refusal


def edit(store: Store, plan: EditPlan, by: Author) -> None:
    """Change the requests of the packages. Raises BadUsage if there is no change."""
    if not plan.request.options.descriptions:
        raise BadUsage(NOTHING, hint=EXAMPLE)
    plan.request.options.change(plan.selection)


def undo_edit(plan: EditPlan) -> str | None:
    """Return the command that undoes it; None if `_lasting` says why none does."""
    if not plan.previous or any(_lasting(plan)):
        return None
    before = restoring({name: value for name, (value,) in plan.previous.items()})
    return undo.of_changed("edit", plan, *typed(before), has_others=bool(plan.refused))


def _lasting(plan: EditPlan) -> Iterator[str]:
    """Say why no command undoes it."""
    if plan.request.options.environment:
        yield "can't be undone: the history keeps no values of variables"
    if plan.was_unfit:
        yield "can't be undone: no node can take what they requested before"
        return
    for name, values in plan.previous.items():
        key = name.replace("_", "-")
        if len(values) > 1:
            yield f"can't be undone: the packages had different values of `{key}`"
        elif name == "disk" and None in values:  # its estimate is not recorded
            yield f"can't be undone: the packages had no `{key}`"


def describe(plan: EditPlan) -> Iterator[str]:
    """Say what the packages would request."""
    yield from wording.describe_packages(plan, "edit", _changes(plan))
    yield from _refused(plan)
    yield from plan.away
    yield from _lasting(plan)


def report(plan: EditPlan) -> Iterator[str]:
    """Say what the packages request now."""
    yield from wording.report_packages(plan, "edit", "edited", _changes(plan))
    yield from wording.unchanged(plan)
    yield from _refused(plan)
    yield from plan.away
    yield from _lasting(plan)


def _changes(plan: EditPlan) -> str:
    changes = plan.request.options.descriptions
    return f" to request {listed(changes)}" if changes else f"; {NOTHING}"


def _refused(plan: EditPlan) -> Iterator[str]:
    for why, number in plan.refused.items():
        yield f"not edited: {count(number, 'package')}, because {why}"


ACTION = Action(
    name="edit",
    help="Change the resources that packages request before they start.",
    more_help="Packages that have a node are not changed. Failed ones are changed by `retry`.",
    example="reco001/2/1/1 --cpus 2 --memory 4GB",
    past="edited",
    options=NewRequests,
    plan=plan_edit,
    act=edit,
    undo=undo_edit,
    describe=describe,
    report=report,
    starts_packages=True,
    needs_values=True,
    key="I",
    title="edit: change its requests",
)
