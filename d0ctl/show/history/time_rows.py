"""Attempts over time as rows of blocks: the slots of nodes, or the lines of a job."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median

from msgspec import Struct

from d0ctl.show.drawing.signs import Glyphs
from d0ctl.show.drawing.spans import Line, Span, foreign, pad
from d0ctl.show.usage.slot_places import places
from d0ctl.store.history.attempt_spans import MOST, AttemptSpan
from d0ctl.store.views.job_files.eta import LEAST_STRAGGLING_S, STRAGGLING
from d0ctl.units import duration

LOOKS = {"successful": "good", "failed": "bad", "lost": "bad", "refused": "warn", "killed": "faint"}
"""The look of each outcome; that of a running attempt is another."""

BLOCKS = {"failed": "failed", "lost": "canceled"}
"""The kind of block of attempts that ended otherwise than those that just ran."""

STAGES = ("good", "live", "warn", "mark", "title", "command")
"""The looks of stages, one after another."""

LABEL = 16
"""How many columns the names of rows take."""

TICK = 14
"""How many columns lie between the times on the axis, at least."""

STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200,
         86_400, 172_800, 604_800, 1_209_600, 2_592_000, 7_776_000, 31_536_000)  # fmt: skip
"""The seconds between these times, multiples of which they are after a midnight."""

PERIODS = (60, 300, 900, 3600, 10_800, 43_200, 86_400, 259_200, 604_800, 2_592_000)
"""The periods that can be shown, in seconds."""


class TimeRow(Struct, frozen=True):
    """A slot, by its number, of a node, or a line: its attempts by launch.

    `busy` is the share of the slots of its node that ran packages, from the first start that is
    shown to the last end.
    """

    of: str
    spans: list[AttemptSpan]
    slot: int | None = None
    busy: float = 0.0


class Period(Struct, frozen=True):
    """The time that the columns share."""

    begin: float
    end: float
    columns: int

    @property
    def step(self) -> float:
        """The seconds of a column."""
        return (self.end - self.begin) / max(1, self.columns)

    @property
    def length(self) -> str:
        """The period in words, such as `5 min`."""
        return duration(self.end - self.begin).removesuffix(" 00 s").removesuffix(" 00 min")

    def column(self, at: float) -> int:
        """Return the column of a time, which may be outside."""
        return int((at - self.begin) / self.step)


def slots(spans: Iterable[AttemptSpan], now: float, begin: float) -> list[TimeRow]:
    """Return a row for each slot of each node that ran packages: one takes the first free slot.

    An attempt takes no slot before it runs. One that never ran is in the first row of its node.
    """
    nodes: dict[str, list[AttemptSpan]] = defaultdict(list)
    for span in spans:
        nodes[span.node].append(span)
    period = _first_start_to_last_end(nodes, now, begin)
    rows: list[TimeRow] = []
    for node, of_node in sorted(nodes.items()):
        taken = _places(of_node, now)
        share = _share(of_node, len(taken), period)
        rows += [TimeRow(node, slot, 1 + number, share) for number, slot in enumerate(taken)]
    return rows


def _first_start_to_last_end(
    nodes: Mapping[str, list[AttemptSpan]], now: float, begin: float
) -> tuple[float, float]:
    """Return the part of the period in which packages ran anywhere; they may run now."""
    spans = [span for of_node in nodes.values() for span in of_node]
    ran = [(span.started, span.until(now)) for span in spans if span.started is not None]
    first = min((started for started, _ in ran), default=begin)
    return max(first, begin), min(max((ended for _, ended in ran), default=now), now)


def _share(spans: Iterable[AttemptSpan], rows: int, period: tuple[float, float]) -> float:
    """Return which part of the slots of a node was in use."""
    begin, end = period
    busy, slots = 0.0, rows
    for span in spans:
        slots = max(slots, span.node_slots or 0)
        if span.started is not None:
            ended = span.until(end)
            busy += span.took * max(0.0, min(ended, end) - max(span.started, begin))
    return busy / max(1e-9, (end - begin) * slots)


def _most_at_once(spans: Sequence[AttemptSpan]) -> float | None:
    """Return how many packages fit on a node at a time; None if that is not known."""
    slots = max((span.node_slots or 0 for span in spans), default=0)
    smallest = min((span.took for span in spans), default=1.0)
    return slots / min(1.0, smallest) if slots and smallest > 0 else None


def _places(spans: Sequence[AttemptSpan], now: float) -> list[list[AttemptSpan]]:
    """Return the attempts of a node by slot."""
    ran: list[tuple[float, float, AttemptSpan]] = []
    others: list[AttemptSpan] = []
    for span in spans:
        if span.started is None:
            others.append(span)
        else:
            ran.append((span.started, span.until(now), span))
    ran.sort(key=lambda row: row[:2])
    numbers = places(((started, ended) for started, ended, _ in ran), _most_at_once(spans))
    slots: list[list[AttemptSpan]] = [[] for _ in range(1 + max(numbers, default=0))]
    slots[0] += others
    for number, (_, _, span) in zip(numbers, ran, strict=True):
        slots[number].append(span)
    return slots


def _columns(row: TimeRow, span: AttemptSpan, period: Period) -> tuple[int, int]:
    """Return the first and the last column of an attempt: in a slot, only while it ran."""
    end, begin = span.until(period.end), span.launched
    if row.slot is not None:
        begin = end if span.started is None else span.started
    return period.column(begin), period.column(max(begin, end - 1e-6))


def lines(spans: Iterable[AttemptSpan]) -> list[TimeRow]:
    """Return a row for each line that has attempts."""
    spans_by_line: dict[tuple[int, int], list[AttemptSpan]] = defaultdict(list)
    for span in spans:
        spans_by_line[span.stage, span.line].append(span)
    return [
        TimeRow(f"{stage}/{line}", of_line)
        for (stage, line), of_line in sorted(spans_by_line.items())
    ]


def stragglers(spans: Sequence[AttemptSpan], now: float) -> set[AttemptSpan]:
    """Return attempts that run, or ran, much longer than half of their stage."""
    by_stage: dict[tuple[str, int], list[AttemptSpan]] = defaultdict(list)
    for span in spans:
        by_stage[span.path.partition("/")[0], span.stage].append(span)
    slow: set[AttemptSpan] = set()
    for of_stage in by_stage.values():
        seconds = {span: ran for span in of_stage if (ran := span.ran(now)) is not None}
        ended = [ran for span, ran in seconds.items() if span.outcome == "successful"]
        limit = median(ended) if len(ended) > 2 else float("inf")
        limit = max(STRAGGLING * limit, limit + LEAST_STRAGGLING_S)
        slow.update(span for span, ran in seconds.items() if ran > limit)
    return slow


def marked(slow: Iterable[AttemptSpan], shown: Iterable[AttemptSpan]) -> set[AttemptSpan]:
    """Return the stragglers that have a block of their own: failed ones look like failed ones."""
    return {span for span in {*slow} & {*shown} if _block(span, {span}) == "launched"}


def summary(span: AttemptSpan, now: float) -> str:
    """Say how an attempt ended, if it has, and how long it ran, or waited to start."""
    state = "running" if span.is_going else "unreachable"
    state = state if span.suspended_since is None else "suspended"
    begin = span.launched if span.started is None else span.started
    return f"{span.outcome or state} {duration(span.until(now) - begin)}"


def look_of_state(span: AttemptSpan) -> str:
    """Return the look of an attempt by how it ended."""
    return "live" if span.is_going else LOOKS.get(span.outcome or "", "warn")


def look_of_stage(span: AttemptSpan) -> str:
    """Return the look of an attempt by its stage."""
    return STAGES[(span.stage - 1) % len(STAGES)]


def draw(
    row: TimeRow,
    period: Period,
    glyphs: Glyphs,
    role_of: Callable[[AttemptSpan], str],
    slow: set[AttemptSpan],
) -> Line:
    """Return a row as a line: a block for each column in which an attempt was there.

    In the row of a line it is a line before the start of the binaries, or the end if these never
    did; failed and lost attempts and stragglers have blocks of their own. Where several attempts
    share a column, a failed one is shown, else the last one.
    """
    cells: list[Span] = [(" ", "faint")] * period.columns
    failed: set[int] = set()
    for span in row.spans:
        first, last = _columns(row, span, period)
        for column in range(max(0, first), min(period.columns - 1, last) + 1):
            if column in failed and span.outcome != "failed":
                continue
            at = period.begin + (column + 1) * period.step
            waits = at <= span.started if span.started is not None else not (
                column == last and span.ended is not None and span.outcome in BLOCKS)  # fmt: skip
            sign = glyphs.rest if waits and row.slot is None else glyphs.bar[_block(span, slow)]
            cells[column] = (sign, role_of(span))
            if span.outcome == "failed":
                failed.add(column)
    name = "" if (row.slot or 1) > 1 else foreign(row.of)
    about = f"{row.busy:.0%}" if row.slot == 1 else ""
    name = pad(name, LABEL - 5 - 1, ellipsis=glyphs.ellipsis)
    return ((f" {name}", "strong"), (pad(about, 4, right=True) + " ", "faint"), *cells)


def _block(span: AttemptSpan, slow: set[AttemptSpan]) -> str:
    """Return the kind of block of an attempt: colour alone has no meaning."""
    if span.ended is not None and span.outcome in BLOCKS:
        return BLOCKS[span.outcome]
    return "launched" if span in slow else "successful"


def at_column(row: TimeRow, period: Period, column: int) -> AttemptSpan | None:
    """Return the attempt that a row shows in a column."""
    shown: AttemptSpan | None = None
    for span in row.spans:
        first, last = _columns(row, span, period)
        is_over = shown is not None and shown.outcome == "failed" and span.outcome != "failed"
        if first <= column <= last and not is_over:
            shown = span
    return shown


def axis(period: Period, cursor: int, glyphs: Glyphs) -> Line:
    """Return round times at the columns that have them, and a mark at the column of the cursor."""
    text = [" "] * period.columns
    step = next((step for step in STEPS if step >= period.step * TICK), STEPS[-1])
    form = "%a %H:%M" if period.end - period.begin > 86_401 else "%H:%M"  # 24 h may be rounded
    form = "%H:%M:%S" if step < 60 else form if step < 86_400 else "%d %b"
    offset = time.localtime(period.begin).tm_gmtoff
    at = -(-(period.begin + offset) // step) * step - offset
    while at < period.end:
        label = glyphs.upright + time.strftime(form, time.localtime(at))
        column = period.column(at)
        if column + len(label) <= period.columns:
            text[column : column + len(label)] = label
        at += step
    line = "".join(text)
    cursor = max(0, min(cursor, period.columns - 1))
    return ((" " * LABEL, ""), (line[:cursor], "faint"), (line[cursor : cursor + 1], "match"),
            (line[cursor + 1 :], "faint"))  # fmt: skip


def period_for(spans: Sequence[AttemptSpan], now: float) -> int:
    """Return the shortest period that shows all of the last attempts, as its number."""
    whole = now - min((span.launched for span in spans[-MOST:]), default=now)
    return next(
        (index for index, seconds in enumerate(PERIODS) if seconds >= whole), len(PERIODS) - 1
    )
