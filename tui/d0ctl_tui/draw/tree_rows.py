"""A row of the tree as a line, and its width."""

import json
from collections.abc import Sequence

from msgspec import Struct

from d0ctl.jobfile.spec import INPUTS
from d0ctl.model import Counts, Phase, by_status, known_eta
from d0ctl.show.cards import binary
from d0ctl.show.cards.part import limits
from d0ctl.show.drawing import signs
from d0ctl.show.drawing.signs import Glyphs
from d0ctl.show.drawing.spans import Line, Span, cell_len, fit, foreign, pad, width
from d0ctl.store.views.activity import NO_PROGRESS, RunningProgress
from d0ctl.store.views.shapes import JobSummary, LineSummary, OnlyPackage, PackageRow, StageSummary
from d0ctl.store.views.shapes.of_package import BinaryView
from d0ctl.units import moment
from d0ctl_tui.draw import task_rows
from d0ctl_tui.draw.columns import BAR, GAP, Columns, Need
from d0ctl_tui.draw.estimate import Estimate

Row = JobSummary | StageSummary | LineSummary | PackageRow | BinaryView
"""The contents of a row of the tree."""

COUNT = 11
"""The largest width of numbers of packages."""


class RowContext(Struct, frozen=True):
    """How a row is displayed: its indent, whether it is expanded, marked; the clock; the glyphs."""

    depth: int
    glyphs: Glyphs
    now: float
    opened: bool = False
    marked: bool = False
    with_path: bool = False
    blocked: bool = False
    estimate: Estimate | None = None
    progress: RunningProgress = NO_PROGRESS
    kept: str = ""
    followed: bool = False


def draw(row: Row | None, columns: Columns, context: RowContext) -> Line:
    """Return a row as a line."""
    if row is None:
        return ((" " * (2 * context.depth + 2), ""), ("gone", "faint"))
    if isinstance(row, PackageRow):
        return _package(row, columns, context)
    if isinstance(row, BinaryView):
        return _binary(row, columns, context)
    return _group(row, columns, context)


def need(row: Row | None, context: RowContext) -> Need:
    """Return how many columns a row needs."""
    if row is None:
        return Need()
    front = 2 * context.depth + 3
    match row:
        case PackageRow():
            name, about, time = _package_name(row, context), _about(row), _when(row, context)
            state = width(signs.mark(_phase_name(row, context), context.glyphs))
            percent = BAR + GAP if _has_gauge(row) else 0
            return Need(front + width(name), front + width(name), state,
                        about=percent + cell_len(about), time=len(time))  # fmt: skip
        case BinaryView():
            name = _binary_name(row)
            state = width(signs.mark(binary.state(row), context.glyphs))
            return Need(front + width(name), front + width(name), state,
                        time=len(_binary_time(row, context)))  # fmt: skip
    name = _name(row, context)
    bare = name[:-1] if isinstance(row, JobSummary) else name
    word = task_rows.status(row, context.kept)
    badges = [badge for badge in signs.badges(row.counts, context.glyphs, row.acknowledged)
              if _adds(badge, word)]  # fmt: skip
    state = width(signs.mark(word, context.glyphs)) + sum(1 + width([badge]) for badge in badges)
    if about := task_rows.about(row):
        return Need(front + width(bare), front + width(name), state, about=cell_len(about),
                    time=len(_end(row, context)))  # fmt: skip
    tally = sum(1 + width([span]) for span in _tally(row)) - 1
    return Need(front + width(bare), front + width(name), state,
                len(_done(task_rows.counts(row), context)), tally,
                time=len(_end(row, context)))  # fmt: skip


def _front(name: Sequence[Span], columns: Columns, context: RowContext, twisty: str) -> list[Span]:
    mark = (context.glyphs.mark if context.marked else " ", "mark")
    indent = " " * (2 * context.depth)
    room = max(4, columns.name - len(indent) - 3)
    fitted = fit(name, room, ellipsis=context.glyphs.ellipsis)
    blank = " " * (max(0, room - width(fitted)) + GAP)
    return [mark, (indent, ""), (f"{twisty} ", "faint"), *fitted, (blank, "")]


def _group(
    row: JobSummary | StageSummary | LineSummary, columns: Columns, context: RowContext
) -> Line:
    glyphs = context.glyphs
    twisty = glyphs.open if context.opened else glyphs.shut
    spans = _front(_name(row, context), columns, context, twisty)
    badges = signs.badges(row.counts, glyphs, row.acknowledged)
    state, counts = task_rows.status(row, context.kept), task_rows.counts(row)
    spans += _state(state, columns, glyphs, badges)
    if about := task_rows.about(row):
        text = pad(about, columns.about, ellipsis=glyphs.ellipsis) + " " * GAP
        spans.append((text, signs.role(state)))
    else:
        if columns.bar:
            earned = context.progress.percents / 100
            spans += [*signs.bar(counts, columns.bar, glyphs, earned), (" " * GAP, "")]
        spans.append((pad(_done(counts, context), columns.count, right=True) + " " * GAP, "plain"))
        if columns.tally:
            spans += _cells(_tally(row), columns.tally, glyphs)
    if columns.time:
        spans.append((pad(_end(row, context), columns.time, right=True), "faint"))
    return tuple(spans)


def _name(row: JobSummary | StageSummary | LineSummary, context: RowContext) -> list[Span]:
    if isinstance(row, JobSummary):
        sign = [(f" {context.glyphs.bell}", "mark")] if context.followed else []
        return [*task_rows.name(row), *sign, (f"  {foreign(row.title)}", "faint")]
    number = (f"{row.seq}", "strong")
    named = row.name != str(row.seq)
    return [number, (f" {foreign(row.name)}", "plain")] if named else [number]


def _state(name: str, columns: Columns, glyphs: Glyphs, badges: Sequence[Span] = ()) -> list[Span]:
    spans = list(signs.mark(name, glyphs))
    for badge in badges:
        if _adds(badge, name) and width(spans) + 1 + width([badge]) <= columns.state:
            spans += [(" ", ""), badge]
    return [*spans, (" " * max(GAP, columns.state + GAP - width(spans)), "")]


def _adds(badge: Span, name: str) -> bool:
    """Return whether a badge adds something to the word of a state."""
    return badge[1] != signs.role(name)


def _done(counts: Counts, context: RowContext) -> str:
    done, total = by_status(counts)["successful"], sum(counts.values())
    text = f"{signs.short(done)}/{signs.short(total)}"
    if not context.progress.percents or not total:
        return text
    share = f"{(100 * done + context.progress.percents) / total:.0f}%"
    return f"{share} {text}" if len(share) + len(text) < COUNT else text


def _tally(row: JobSummary | StageSummary | LineSummary) -> list[Span]:
    text = task_rows.tally(row) or signs.tally(row.counts, blocked=row.blocked, number=signs.short)
    if isinstance(row, JobSummary) and row.hold and row.status != "submitted":
        text.insert(0, ("held", "warn"))
    if row.acknowledged:
        text.append((f"{signs.short(row.acknowledged)} acknowledged", "faint"))
    if isinstance(row, StageSummary) and row.final:
        text.append(("final", "faint"))
    if not isinstance(row, LineSummary):
        text += [(limit, "faint") for limit in limits(row)]
    return text


def _cells(words: Sequence[Span], columns: int, glyphs: Glyphs) -> list[Span]:
    """Return words beside each other, as many as fit."""
    spans: list[Span] = []
    for index, word in enumerate(words):
        spans += [(" ", ""), word] if index else [word]
    fitted = fit(spans, columns, ellipsis=glyphs.ellipsis)
    return [*fitted, (" " * (columns - width(fitted) + GAP), "")]


def _end(row: JobSummary | StageSummary | LineSummary, context: RowContext) -> str:
    """Return when it ended, or will."""
    if isinstance(row, JobSummary) and row.ended is not None:
        return clock(row.ended, context.now)
    at = None if context.estimate is None else context.now + context.estimate.seconds
    is_least = context.estimate is not None and context.estimate.at_least
    eta = known_eta(Phase.RUNNING, context.progress.eta, context.now)
    if eta is not None and (at is None or eta > at):
        totals = by_status(row.counts)
        left = totals["unscheduled"] + totals["scheduled"] + totals["launched"]
        at, is_least = eta, context.progress.with_eta < left
    return "" if at is None else (">" if is_least else "~") + clock(at, context.now, short=True)


def clock(at: float, now: float, *, short: bool = False) -> str:
    """Return a time in at most eight columns; the date if it is another day."""
    text = moment(at, now)
    if ":" in text and len(text) == 8:
        return text[:5] if short else text
    return text[:6]


def _package(row: PackageRow, columns: Columns, context: RowContext) -> Line:
    glyphs = context.glyphs
    twisty = glyphs.open if context.opened else glyphs.shut
    word = _phase_name(row, context)
    name = _package_name(row, context)
    spans = [*_front(name, columns, context, twisty), *_state(word, columns, glyphs)]
    room = columns.about
    if row.percent is not None and _has_gauge(row) and columns.bar:
        bar = min(columns.bar, BAR)
        spans += [*signs.gauge(row.percent / 100, bar, glyphs), (" " * GAP, "")]
        room -= bar + GAP
    spans.append((pad(_about(row), room, ellipsis=glyphs.ellipsis), _about_look(row)))
    if columns.time:
        text = pad(_when(row, context), columns.time, right=True)
        spans.append((" " * GAP + text, "faint"))
    return tuple(spans)


def _phase_name(row: PackageRow, context: RowContext) -> str:
    if isinstance(row, OnlyPackage) and row.dropped is not None:
        return "dropped"
    return signs.phase_name(row.phase, blocked=context.blocked)


def _package_name(row: PackageRow, context: RowContext) -> list[Span]:
    if isinstance(row, OnlyPackage):
        number = str(row.line_seq)
        words = dict.fromkeys(
            word for word in (row.line_name, row.name) if word not in (number, "1")
        )
        return [(number, "strong"), *((f" {foreign(word)}", "plain") for word in words)]
    number = row.path if context.with_path else row.path.rpartition("/")[2]
    name = [(foreign(number), "strong")]
    if row.name != row.path.rpartition("/")[2]:
        name.append((f" {foreign(row.name)}", "plain"))
    return name


def _has_gauge(row: PackageRow) -> bool:
    return row.percent is not None and signs.is_live(row.phase)


def _when(row: PackageRow, context: RowContext) -> str:
    """Return when it ended, or will; else when it changed."""
    eta = known_eta(row.phase, row.eta, context.now)
    if eta is not None and signs.is_live(row.phase):
        return "~" + clock(eta, context.now, short=True)
    at = row.started if signs.is_live(row.phase) else row.ended
    return clock(row.changed if at is None else at, context.now)


def _about(row: PackageRow) -> str:
    """Return its node and remarks; the reason of a failure comes first."""
    failed = row.phase == Phase.FAILED
    words = [f"{row.percent:.0f} %"] if row.percent is not None and signs.is_live(row.phase) else []
    words += [row.reason or ""] if failed else []
    words += [f"acknowledged by {row.acknowledged}"] if row.acknowledged else []
    words += [row.node or "", f"try {row.attempts}" if row.attempts > 1 else "", row.line or ""]
    if row.request and row.phase != Phase.KILLING:
        words.append(f"({row.request})")
    words.append((row.message if failed else row.note) or "")
    return "  ".join(foreign(word) for word in words if word)


def _about_look(row: PackageRow) -> str:
    return "bad" if row.phase == Phase.FAILED and not row.acknowledged else "faint"


def _binary(row: BinaryView, columns: Columns, context: RowContext) -> Line:
    glyphs = context.glyphs
    spans = [*_front(_binary_name(row), columns, context, glyphs.leaf),
             *_state(binary.state(row), columns, glyphs)]  # fmt: skip
    command = foreign(_command(row))
    spans.append((pad(command, columns.about, ellipsis=glyphs.ellipsis), "faint"))
    if columns.time:
        text = pad(_binary_time(row, context), columns.time, right=True)
        spans.append((" " * GAP + text, "faint"))
    return tuple(spans)


def _command(row: BinaryView) -> str:
    words = row.script or " ".join(json.loads(row.argv or "[]"))
    return " ".join(words.replace(INPUTS, "{inputs}").split())


def _binary_name(row: BinaryView) -> list[Span]:
    return [(str(row.seq), "strong"), (f" {foreign(row.name)}", "plain")]


def _binary_time(row: BinaryView, context: RowContext) -> str:
    at = row.started if row.ended is None else row.ended
    return "" if row.started is None or at is None else clock(at, context.now)
