"""The actions of people that changed one package, among those on its job."""

from collections.abc import Sequence

from d0ctl.errors import BadUsage
from d0ctl.select import Selector, parse
from d0ctl.store.views.shapes import ActionView
from d0ctl.store.views.shapes.of_package import EventView, PackageView


def on_package(
    actions: Sequence[ActionView], package: PackageView, events: Sequence[EventView]
) -> list[ActionView]:
    """Return those that changed its phase, or whose selectors have it in the phase of then."""
    changes = {(event.at, event.actor) for event in events}
    return [
        action for action in actions
        if (action.at, action.actor) in changes
        or any(_selects(part, action.at, package, events) for part in action.target.split(" "))
    ]  # fmt: skip


def _selects(text: str, at: float, package: PackageView, events: Sequence[EventView]) -> bool:
    """Return whether a selector has the package, as far as can be known now."""
    try:
        part = parse(text)
    except BadUsage:
        return True
    return _covers(part, package) and (part.phases is None or _phase(at, package, events)
                                       in part.phases)  # fmt: skip


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
