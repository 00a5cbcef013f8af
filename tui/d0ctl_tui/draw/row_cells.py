"""The cells that all rows of the tree have, and how they fit their columns."""

from collections.abc import Mapping, Sequence

from msgspec import Struct, field

from d0ctl.show.drawing import signs
from d0ctl.show.drawing.signs import Glyphs
from d0ctl.show.drawing.spans import Line, Span, cut_middle, fit, pad, width
from d0ctl.store.views.activity import NO_PROGRESS, RunningProgress
from d0ctl.units import moment
from d0ctl_tui.draw.columns import GAP, LEFT, Columns


class RowContext(Struct, frozen=True):
    """How a row is displayed: its indent, whether it is expanded, marked; the clock; the glyphs.

    `nodes` has the short names of nodes, `late` is the number of stragglers below it,
    `waits_for` says that of a blocked package in a list, `estimate` when it ends, `least` when the
    last of its stages does that has an estimate.
    """

    depth: int
    glyphs: Glyphs
    now: float
    opened: bool = False
    marked: bool = False
    with_path: bool = False
    blocked: bool = False
    waits_for: str = ""
    late: int = 0
    estimate: float | None = None
    least: float | None = None
    progress: RunningProgress = NO_PROGRESS
    job_hold: str = ""
    followed: bool = False
    nodes: Mapping[str, str] = field(default_factory=dict)


LEAST_REMARK = 8
"""How many columns of a remark are worth showing."""

WORTH = 6
"""How many columns the rest of a name needs to be worth showing."""


def front(
    name: Sequence[Span], bare: int, columns: Columns, context: RowContext, twisty: str
) -> list[Span]:
    """Return mark, indent, the sign of an expanded row, and its name.

    The first `bare` spans of the name tell it from others. If there is room for no more, the others
    are omitted, and if need be the middle of the last one: names of a series often differ only at
    their end.
    """
    mark = (context.glyphs.mark if context.marked else " ", "mark")
    indent = " " * (2 * context.depth)
    room = max(4, columns.name - len(indent) - 3)
    ellipsis = context.glyphs.ellipsis
    *first, (last, role) = name[:bare]
    left = room - width(first)
    whole = width(name) <= room
    if not whole and 4 <= left < width([(last, role)]) + WORTH:
        fitted: Line = (*first, (cut_middle(last, left, ellipsis=ellipsis), role))
    else:
        fitted = fit(name, room, ellipsis=ellipsis)
    blank = " " * (max(0, room - width(fitted)) + GAP)
    return [mark, (indent, ""), (f"{twisty} ", "faint"), *fitted, (blank, "")]


def state(name: str, columns: Columns, glyphs: Glyphs, badges: Sequence[Span] = ()) -> list[Span]:
    """Return the word of a state, and the badges that fit."""
    spans = list(signs.mark(name, glyphs))
    for badge in badges:
        if width(spans) + 1 + width([badge]) <= columns.state:
            spans += [(" ", ""), badge]
    return [*spans, (" " * max(GAP, columns.state + GAP - width(spans)), "")]


def tail(extras: Mapping[str, str], time: str, columns: Columns) -> list[Span]:
    """Return the extra columns, and the time."""
    cells = [pad(extras.get(name, ""), room, right=name not in LEFT) + " " * GAP
             for name, room in columns.extras]  # fmt: skip
    if columns.time:
        shown = time if len(time) <= columns.time else brief(time)
        cells.append(pad(shown, columns.time, right=True))
    return [("".join(cells), "faint")] if cells else []


def fitting(remarks: Sequence[str], room: int) -> str:
    """Return remarks beside each other; of the last one enough to be read, or nothing."""
    text = ""
    for remark in remarks:
        longer = f"{text}  {remark}" if text else remark
        if len(longer) > room and text and room - len(text) - 2 < LEAST_REMARK:
            break
        text = longer
    return text


def brief(time: str) -> str:
    """Return a time without seconds."""
    return time[:-3] if time.count(":") == 2 else time


def clock(at: float, now: float, *, short: bool = False) -> str:
    """Return a time in at most eight columns; the date if it is another day."""
    text = moment(at, now)
    if ":" in text and len(text) == 8:
        return text[:5] if short else text
    return text[:6]
