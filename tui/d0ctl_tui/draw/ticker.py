"""The latest changes, one line each: all of them, or what matters to people."""

from collections.abc import Iterable, Sequence

from d0ctl.select import brief
from d0ctl.show.drawing import signs
from d0ctl.show.drawing.signs import Glyphs
from d0ctl.show.drawing.spans import Line, Span, fit, foreign, spread, width
from d0ctl.store.history.notable import Notable
from d0ctl.store.views.activity import Event
from d0ctl.units import count
from d0ctl_tui.draw.row_cells import clock

PASSING = frozenset({"ready", "assigned", "starting", "staging-in", "transferring"})
"""Phases that end soon by themselves."""

SWITCH = {False: " what matters c all", True: " all changes c what matters"}
"""What is listed, and the key for the other list."""

LEAST_ROOM = 36
"""How many columns the list has at least beside the words about it."""


def everything(events: Iterable[Event], columns: int, now: float, glyphs: Glyphs) -> list[Line]:
    """Return the latest changes, the newest first, without the steps before a running package."""
    return [
        _line(one.at, one.path, one.new, now, columns, glyphs, node=one.node,
              reason=one.reason if one.new == "failed" else None, actor=one.actor, note=one.note)
        for one in events
        if one.actor or one.new not in PASSING
    ]  # fmt: skip


def what_matters(found: Iterable[Notable], columns: int, now: float, glyphs: Glyphs) -> list[Line]:
    """Return failures, actions of people, changes of nodes and ends of jobs, the newest first."""
    return [
        _line(one.at, brief(one.subject), one.state, now, columns, glyphs, node=one.node,
              reason=one.reason, actor=one.actor, note=_note(one))
        for one in found
    ]  # fmt: skip


def with_switch(lines: Sequence[Line], columns: int, glyphs: Glyphs, *, is_all: bool) -> list[Line]:
    """Return the lines with what is listed at the right end of the first one."""
    first = lines[0] if lines else (("nothing has happened yet", "faint"),)
    switch: Span = (SWITCH[is_all], "faint")
    room = columns - len(switch[0])
    if room < LEAST_ROOM:
        switch = (" c", "faint")
        room = columns - 2
    if room < width(first):
        first = fit(first, room, ellipsis=glyphs.ellipsis)
    return [spread(first, [switch], columns), *lines[1:]]


def _note(one: Notable) -> str | None:
    match one.what:
        case "job" if one.left:
            return f"ended, {count(one.left, 'package')} without success"
        case "job":
            return "ended"
        case "failure" if one.is_tried_again:
            return f"tried again: {one.note}" if one.note else "tried again"
    return one.note


def _line(
    at: float, subject: str, state: str, now: float, columns: int, glyphs: Glyphs, *,
    node: str | None, reason: str | None, actor: str | None, note: str | None,
) -> Line:  # fmt: skip
    look = signs.role(state)
    spans: list[Span] = [
        (f"{clock(at, now)} ", "faint"),
        (f"{glyphs.states.get(state, glyphs.point)} ", look),
        (foreign(subject), "strong"),
        (f" {state}", look),
    ]
    if node:
        spans.append((f" {foreign(node)}", "plain"))
    if reason:
        spans.append((f" {foreign(reason)}", "bad"))
        note = (note or "").removeprefix(f"{reason}: ")
    if shown := ": ".join(word for word in (actor, note) if word):
        spans.append((f" {foreign(shown)}", "faint"))
    return fit(spans, columns, ellipsis=glyphs.ellipsis)
