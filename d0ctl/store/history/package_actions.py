"""The actions of people that changed one package, among those on its job."""

from collections.abc import Mapping, Sequence

from d0ctl.errors import BadUsage
from d0ctl.model import LIVE, STATUS_OF, Phase, Status
from d0ctl.select import Selector, parse
from d0ctl.store.views.shapes import ActionView
from d0ctl.store.views.shapes.of_package import EventView, PackageView

OF_JOBS = frozenset({"finish", "hold", "pause", "priority", "release", "resume"})
"""Actions that set a flag of a whole job, and so concern each of its packages."""

UNSCHEDULED = frozenset(phase for phase in Phase if STATUS_OF[phase] is Status.UNSCHEDULED)
HASTENED = frozenset({Phase.KILLING})
GRADED = frozenset(Phase) - {Phase.DONE, Phase.CANCELED, Phase.DROPPED, Phase.KILLING}

WITHOUT_EVENT: Mapping[str, frozenset[Phase]] = {
    "acknowledge": frozenset({Phase.FAILED}),
    "edit": UNSCHEDULED,
    "finish": HASTENED,
    "hold": frozenset(),
    "kill": HASTENED,
    "kill-line": HASTENED,
    "pause": frozenset(LIVE),
    "priority": GRADED,
    "release": frozenset(),
    "remake": frozenset(),
    "require": frozenset(),
    "resume": frozenset(LIVE),
    "retry": frozenset(),
    "set-status": frozenset(),
    "update": UNSCHEDULED,
}
"""In which phases a package can be changed by an action that leaves it in its phase; an action that
is not listed here may change packages in all phases."""


def on_package(
    actions: Sequence[ActionView], package: PackageView, events: Sequence[EventView]
) -> list[ActionView]:
    """Return those that changed its phase, and those that may have changed it in its phase of then,
    if their selectors have it.
    """
    changes = {(event.at, event.actor) for event in events}
    others = {package.redefined, package.line_dropped}  # by an update, or with its line
    return [
        action for action in actions
        if not changes.isdisjoint({(action.at, action.actor), (action.at, None)})
        or action.at in others
        or any(_selects(part, action, package, events) for part in action.target.split(" "))
    ]  # fmt: skip


def _selects(
    text: str, action: ActionView, package: PackageView, events: Sequence[EventView]
) -> bool:
    """Return whether a selector has the package, and the action may have changed it then."""
    try:
        part = parse(text)
    except BadUsage:
        return True
    phase = _phase(action.at, package, events)
    is_named = _covers(part, package) and (part.phases is None or phase in part.phases)
    is_flag = part.names_jobs and action.verb in OF_JOBS
    drops = action.verb == "kill-line" and "--drop-outputs" in (action.note or "")
    phases = None if is_flag or drops else WITHOUT_EVENT.get(action.verb)
    return is_named and (phases is None or phase in phases)


def _covers(part: Selector, package: PackageView) -> bool:
    """Return whether the package is at a position that is selected."""
    if part.stage_name not in (None, package.stage_name) or part.job != package.job:
        return False
    spans = zip((part.stage, part.line, part.package),
                (package.stage, package.line, package.seq), strict=True)  # fmt: skip
    return all(span.counts_back or span.first <= number <= span.last for span, number in spans)


def _phase(at: float, package: PackageView, events: Sequence[EventView]) -> str:
    """Return the phase just before an action: its own change of phase has the same time."""
    return next((event.old for event in events if event.at >= at), package.phase)
