"""A row of the tree as a line: columns that give way to a narrow screen one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass

from d0ctl.format import moment
from d0ctl.model import Counts, Phase, by_status, known_eta
from d0ctl.store.look.pulse import NO_HEADWAY, Headway
from d0ctl.store.look.views import BinaryView, JobSummary, LineSummary, PackageRow, StageSummary
from d0ctl_tui.draw import looks
from d0ctl_tui.draw.estimate import Estimate
from d0ctl_tui.draw.looks import Glyphs
from d0ctl_tui.draw.spans import Line, Span, cut, fit, foreign, pad, width

Row = JobSummary | StageSummary | LineSummary | PackageRow | BinaryView
"""What a row of the tree shows."""

STATE = 17
COUNT = 11
TIME = 8
GAP = 2


@dataclass(frozen=True, slots=True)
class Columns:
    """How the columns of the tree share the width of the screen; 0 is left out."""

    name: int
    bar: int
    tally: int
    time: int

    @classmethod
    def of(cls, columns: int) -> "Columns":
        """The columns for a width, of which the name gets what is left."""
        time = TIME if columns >= 64 else 0
        bar = 24 if columns >= 130 else 14 if columns >= 84 else 8 if columns >= 50 else 0
        tally = min(36, columns // 4) if columns >= 100 else 0
        taken = STATE + COUNT + 2 * GAP
        taken += sum(part + GAP for part in (bar, tally, time) if part)
        return cls(max(12, columns - taken - 2), bar, tally, time)


@dataclass(frozen=True, slots=True)
class Sight:
    """How a row is looked at: its indent, whether it is expanded, marked; the clock; the glyphs."""

    depth: int
    glyphs: Glyphs
    now: float
    opened: bool = False
    marked: bool = False
    with_path: bool = False
    blocked: bool = False
    estimate: Estimate | None = None
    headway: Headway = NO_HEADWAY
    kept: str = ""


def draw(row: Row | None, columns: Columns, sight: Sight) -> Line:
    """A row as a line."""
    if row is None:
        return ((" " * (2 * sight.depth + 2), ""), ("gone", "faint"))
    if isinstance(row, PackageRow):
        return _package(row, columns, sight)
    if isinstance(row, BinaryView):
        return _binary(row, columns, sight)
    return _group(row, columns, sight)


def heading(columns: Columns) -> Line:
    """The names of the columns."""
    cells = [(pad("  name", columns.name + 2), "faint"), (pad("status", STATE + GAP), "faint")]
    if columns.bar:
        cells.append((pad("progress", columns.bar + GAP), "faint"))
    cells.append((pad("done", COUNT, right=True) + " " * GAP, "faint"))
    if columns.tally:
        cells.append((pad("what else", columns.tally + GAP), "faint"))
    if columns.time:
        cells.append((pad("end", columns.time, right=True), "faint"))
    return tuple(cells)


def _front(name: Sequence[Span], columns: Columns, sight: Sight, twisty: str) -> list[Span]:
    mark = (sight.glyphs.mark if sight.marked else " ", "mark")
    indent = " " * (2 * sight.depth)
    room = columns.name - len(indent) - 1
    fitted = fit(name, max(4, room), ellipsis=sight.glyphs.ellipsis)
    blank = " " * max(0, room - width(fitted) + 1)
    return [mark, (indent, ""), (f"{twisty} ", "faint"), *fitted, (blank, "")]


def _group(row: JobSummary | StageSummary | LineSummary, columns: Columns, sight: Sight) -> Line:
    glyphs = sight.glyphs
    twisty = glyphs.open if sight.opened else glyphs.shut
    spans = _front(_name(row), columns, sight, twisty)
    spans += _state(status_of(row, sight.kept), glyphs, looks.badges(row.counts, glyphs))
    if columns.bar:
        earned = sight.headway.percents / 100
        spans += [*looks.bar(row.counts, columns.bar, glyphs, earned), (" " * GAP, "")]
    spans.append((pad(_done(row.counts, sight), COUNT, right=True) + " " * GAP, "plain"))
    if columns.tally:
        spans += _cells(_tally(row), columns.tally, glyphs)
    if columns.time:
        spans.append((pad(_end(row, sight), columns.time, right=True), "faint"))
    return tuple(spans)


def _name(row: JobSummary | StageSummary | LineSummary) -> list[Span]:
    if isinstance(row, JobSummary):
        return [(foreign(row.name), "strong"), (f"  {foreign(row.title)}", "faint")]
    number = (f"{row.seq}", "strong")
    named = row.name != str(row.seq)
    return [number, (f" {foreign(row.name)}", "plain")] if named else [number]


def status_of(row: JobSummary | StageSummary | LineSummary, kept: str) -> str:
    """The word for a job, stage or line; `kept` says how its job is kept from going on."""
    if isinstance(row, LineSummary) and row.dropped is not None:
        return "dropped"
    if kept and row.status == "submitted":
        return kept
    if row.status == "failed" and not row.counts.get("failed"):
        return "blocked"
    return str(row.status)


def _state(name: str, glyphs: Glyphs, badges: Sequence[Span] = ()) -> list[Span]:
    spans = list(looks.state(name, glyphs))
    for badge in badges:
        if badge[1] != spans[0][1] and width(spans) + 1 + width([badge]) <= STATE:
            spans += [(" ", ""), badge]
    return [*spans, (" " * max(GAP, STATE + GAP - width(spans)), "")]


def _done(counts: Counts, sight: Sight) -> str:
    done, total = by_status(counts)["successful"], sum(counts.values())
    told = f"{looks.short(done)}/{looks.short(total)}"
    if not sight.headway.percents or not total:
        return told
    share = f"{(100 * done + sight.headway.percents) / total:.0f}%"
    return f"{share} {told}" if len(share) + len(told) < COUNT else told


def _tally(row: JobSummary | StageSummary | LineSummary) -> list[Span]:
    told = looks.tally(row.counts, blocked=row.blocked)
    if isinstance(row, JobSummary) and row.hold and row.status != "submitted":
        told.insert(0, ("held", "warn"))
    return told


def _cells(words: Sequence[Span], columns: int, glyphs: Glyphs) -> list[Span]:
    """Words beside each other, as many as there is room for."""
    spans: list[Span] = []
    for index, word in enumerate(words):
        spans += [(" ", ""), word] if index else [word]
    fitted = fit(spans, columns, ellipsis=glyphs.ellipsis)
    return [*fitted, (" " * (columns - width(fitted) + GAP), "")]


def _end(row: JobSummary | StageSummary | LineSummary, sight: Sight) -> str:
    """When it ended, or will."""
    if isinstance(row, JobSummary) and row.ended is not None:
        return clock(row.ended, sight.now)
    at = None if sight.estimate is None else sight.now + sight.estimate.seconds
    is_least = sight.estimate is not None and sight.estimate.at_least
    eta = known_eta(Phase.RUNNING, sight.headway.eta, sight.now)
    if eta is not None and (at is None or eta > at):
        totals = by_status(row.counts)
        left = totals["unscheduled"] + totals["scheduled"] + totals["launched"]
        at, is_least = eta, sight.headway.told < left
    return "" if at is None else (">" if is_least else "~") + clock(at, sight.now, short=True)


def clock(at: float, now: float, *, short: bool = False) -> str:
    """A time in at most eight columns; the day where it is another."""
    told = moment(at, now)
    if ":" in told and len(told) == 8:
        return told[:5] if short else told
    return told[:6]


def _package(row: PackageRow, columns: Columns, sight: Sight) -> Line:
    glyphs = sight.glyphs
    twisty = glyphs.open if sight.opened else glyphs.shut
    number = row.path if sight.with_path else row.path.rpartition("/")[2]
    name = [(foreign(number), "strong")]
    if row.name != row.path.rpartition("/")[2]:
        name.append((f" {foreign(row.name)}", "plain"))
    word = looks.phase_name(row.phase, blocked=sight.blocked)
    spans = [*_front(name, columns, sight, twisty), *_state(word, glyphs)]
    room = COUNT + sum(part + GAP for part in (columns.bar, columns.tally) if part)
    if row.percent is not None and looks.is_live(row.phase) and columns.bar:
        spans += [*looks.gauge(row.percent / 100, columns.bar, glyphs), (" " * GAP, "")]
        room -= columns.bar + GAP
    spans.append((pad(_about(row), room, ellipsis=glyphs.ellipsis), _about_look(row)))
    if columns.time:
        told = pad(_when(row, sight), columns.time, right=True)
        spans.append((" " * GAP + told, "faint"))
    return tuple(spans)


def _when(row: PackageRow, sight: Sight) -> str:
    """When it ended, or will; when it changed otherwise."""
    eta = known_eta(row.phase, row.eta, sight.now)
    if eta is not None and looks.is_live(row.phase):
        return "~" + clock(eta, sight.now, short=True)
    at = row.started if looks.is_live(row.phase) else row.ended
    return clock(row.changed if at is None else at, sight.now)


def _about(row: PackageRow) -> str:
    """Where it is and what is worth saying of it."""
    words = [foreign(row.node)] if row.node else []
    if row.percent is not None and looks.is_live(row.phase):
        words.insert(0, f"{row.percent:.0f} %")
    if row.line:
        words.append(foreign(row.line))
    if row.request and row.phase != Phase.KILLING:
        words.append(f"({foreign(row.request)})")
    if row.phase == Phase.FAILED:
        words.append(foreign(": ".join(w for w in (row.reason, row.message) if w)))
    elif row.note:
        words.append(foreign(row.note))
    if row.attempts > 1:
        words.insert(min(1, len(words)), f"try {row.attempts}")
    return "  ".join(word for word in words if word)


def _about_look(row: PackageRow) -> str:
    return "bad" if row.phase == Phase.FAILED else "faint"


def _binary(row: BinaryView, columns: Columns, sight: Sight) -> Line:
    glyphs = sight.glyphs
    name = [(str(row.seq), "strong"), (f" {foreign(row.name)}", "plain")]
    spans = [*_front(name, columns, sight, glyphs.leaf), *_state(binary_state(row), glyphs)]
    room = COUNT + sum(part + GAP for part in (columns.bar, columns.tally) if part)
    command = foreign((row.script or row.argv or "").strip().replace("\n", " "))
    spans.append((pad(cut(command, room, ellipsis=glyphs.ellipsis), room), "faint"))
    if columns.time and row.started is not None:
        at = clock(row.ended if row.ended is not None else row.started, sight.now)
        spans.append((" " * GAP + pad(at, columns.time, right=True), "faint"))
    return tuple(spans)


def binary_state(row: BinaryView) -> str:
    """The word for how a binary stands."""
    if row.started is None:
        return "waiting"
    if row.ended is None:
        return "running"
    return "failed" if row.reason or row.exit_code or row.signal else "done"
