"""The latest changes, one line each: all of them, or what matters to people."""

from collections.abc import Iterable, Sequence

from d0ctl.model import phase_word
from d0ctl.policy.remarks import GivenUp, read
from d0ctl.select import brief
from d0ctl.show.drawing import signs
from d0ctl.show.drawing.remark_texts import against, drain_note, gist, remark
from d0ctl.show.drawing.signs import Glyphs
from d0ctl.show.drawing.spans import Line, Span, fit, foreign, spread, width
from d0ctl.store.history.notable import Notable
from d0ctl.store.views.activity import Event
from d0ctl.units import count
from d0ctl_tui.draw.row_cells import clock

PASSING = frozenset({"ready", "assigned", "starting", "staging-in", "transferring"})
"""Phases that end soon by themselves."""

LISTED = {False: "what matters", True: "all"}
"""What is listed."""

LEAST_ROOM = 36
"""How many columns the list has at least beside the words about it."""


def everything(events: Iterable[Event], columns: int, now: float, glyphs: Glyphs) -> list[Line]:
    """Return the latest changes, the newest first, without the steps before a running package."""
    return [
        _line(event.at, event.path, phase_word(event.new), now, columns, glyphs, node=event.node,
              reason=event.reason if event.new == "failed" else None, actor=event.actor,
              note=_why(event))
        for event in events
        if event.actor or event.new not in PASSING
    ]  # fmt: skip


def what_matters(found: Iterable[Notable], columns: int, now: float, glyphs: Glyphs) -> list[Line]:
    """Return failures, actions of people, changes of nodes and ends of jobs, the newest first."""
    return [
        _line(event.at, brief(event.subject), _state(event), now, columns, glyphs, node=event.node,
              reason=event.reason, actor=event.actor, note=_note(event))
        for event in found
    ]  # fmt: skip


def with_switch(
    lines: Sequence[Line], columns: int, glyphs: Glyphs, key: str, *, is_all: bool
) -> list[Line]:
    """Return the lines with what is listed, and the key for the other list, at the right end."""
    first = lines[0] if lines else (("nothing has happened yet", "faint"),)
    other = f" {key} {LISTED[not is_all]}"
    switch: Span = (f" {LISTED[is_all]}{other}", "faint")
    if columns - len(switch[0]) < LEAST_ROOM:
        switch = (other, "faint")
    room = columns - len(switch[0])
    if room < width(first):
        first = fit(first, room, ellipsis=glyphs.ellipsis)
    return [spread(first, [switch], columns), *lines[1:]]


def _why(event: Event) -> str | None:
    """Return why a package changed; of a failure, without the reason that is beside it."""
    if event.new != "failed" or event.reason is None:
        return remark(event.note)
    end = read(event.note)
    more = against(end) if isinstance(end, GivenUp) else ""
    return "; ".join(filter(None, (event.message, more)))


def _state(event: Notable) -> str:
    return signs.group_name(event.state, event.counts) if event.what == "job" else event.state


def _note(event: Notable) -> str | None:
    match event.what:
        case "job":
            return f"{count(event.left, 'package')} did not succeed" if event.left else None
        case "failure" if event.is_tried_again:
            return f"tried again: {gist(event.note)}" if event.note else "tried again"
        case "failure":
            return gist(event.note)
    return remark(event.note) if event.actor else drain_note(event.note)


def _line(
    at: float, subject: str, state: str, now: float, columns: int, glyphs: Glyphs, *,
    node: str | None, reason: str | None, actor: str | None, note: str | None,
) -> Line:  # fmt: skip
    role = signs.role(state)
    spans: list[Span] = [
        (f"{clock(at, now)} ", "faint"),
        (f"{glyphs.states.get(state, glyphs.point)} ", role),
        (foreign(subject), "strong"),
        (f" {state}", role),
    ]
    if node:
        spans.append((f" {foreign(node)}", "plain"))
    if reason:
        spans.append((f" {foreign(reason)}", "bad"))
    if shown := ": ".join(word for word in (actor, note) if word):
        spans.append((f" {foreign(shown)}", "faint"))
    return fit(spans, columns, ellipsis=glyphs.ellipsis)
