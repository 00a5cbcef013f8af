"""Attempts over time as rows of blocks: the slots of nodes, or the lines of a job."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from statistics import median

from msgspec import Struct

from d0ctl.show.drawing.signs import Glyphs
from d0ctl.show.drawing.spans import Line, Span, foreign, pad
from d0ctl.show.usage.slot_places import places
from d0ctl.store.history.attempt_spans import AttemptSpan
from d0ctl.store.views.activity import LEAST_STRAGGLING_S, STRAGGLING

LOOKS = {"successful": "good", "failed": "bad", "lost": "bad", "refused": "warn", "killed": "faint"}
"""The look of each outcome; that of a running attempt is another."""

STAGES = ("good", "live", "warn", "mark", "title", "command")
"""The looks of stages, one after another."""

LABEL = 16
"""How many columns the names of rows take."""

PERIODS = (60, 300, 900, 3600, 10_800, 43_200, 86_400, 259_200, 604_800, 2_592_000)
"""The periods that can be shown, in seconds."""


class TimeRow(Struct, frozen=True):
    """A slot, by its number, of a node, or a line: its attempts by launch.

    `busy` is the share of the slots of its node in use.
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

    def column(self, at: float) -> int:
        """Return the column of a time, which may be outside."""
        return int((at - self.begin) / self.step)


def slots(spans: Iterable[AttemptSpan], now: float, begin: float) -> list[TimeRow]:
    """Return a row for each slot of each node: an attempt takes the first free one."""
    nodes: dict[str, list[AttemptSpan]] = defaultdict(list)
    for one in spans:
        nodes[one.node].append(one)
    rows: list[TimeRow] = []
    for node, there in sorted(nodes.items()):
        taken = _places(there, now)
        busy = sum(_within(one, begin, now) for one in there)
        share = busy / max(1e-9, (now - begin) * len(taken))
        rows += [TimeRow(node, place, 1 + number, share) for number, place in enumerate(taken)]
    return rows


def _places(spans: Sequence[AttemptSpan], now: float) -> list[list[AttemptSpan]]:
    numbers = places((one.launched, now if one.ended is None else one.ended) for one in spans)
    found: list[list[AttemptSpan]] = [[] for _ in range(1 + max(numbers, default=-1))]
    for number, one in zip(numbers, spans, strict=True):
        found[number].append(one)
    return found


def _within(one: AttemptSpan, begin: float, now: float) -> float:
    end = now if one.ended is None else one.ended
    return max(0.0, min(end, now) - max(one.launched, begin))


def lines(spans: Iterable[AttemptSpan]) -> list[TimeRow]:
    """Return a row for each line that has attempts."""
    found: dict[tuple[int, int], list[AttemptSpan]] = defaultdict(list)
    for one in spans:
        found[one.stage, one.line].append(one)
    return [TimeRow(f"{stage}/{line}", there) for (stage, line), there in sorted(found.items())]


def stragglers(spans: Sequence[AttemptSpan], now: float) -> set[AttemptSpan]:
    """Return attempts that take, or took, much longer than half of their stage."""
    by_stage: dict[tuple[str, int], list[AttemptSpan]] = defaultdict(list)
    for one in spans:
        by_stage[one.path.partition("/")[0], one.stage].append(one)
    found: set[AttemptSpan] = set()
    for some in by_stage.values():
        ended = [one.seconds(now) for one in some if one.outcome == "successful"]
        limit = median(ended) if len(ended) > 2 else float("inf")
        limit = max(STRAGGLING * limit, limit + LEAST_STRAGGLING_S)
        found.update(one for one in some if one.seconds(now) > limit)
    return found


def look_of_state(one: AttemptSpan) -> str:
    """Return the look of an attempt by how it ended."""
    return "live" if one.ended is None else LOOKS.get(one.outcome or "", "warn")


def look_of_stage(one: AttemptSpan) -> str:
    """Return the look of an attempt by its stage."""
    return STAGES[(one.stage - 1) % len(STAGES)]


def draw(
    row: TimeRow,
    period: Period,
    glyphs: Glyphs,
    look: Callable[[AttemptSpan], str],
    slow: set[AttemptSpan],
) -> Line:
    """Return a row as a line: a block for each column in which an attempt was there.

    Before the start of the binaries it is a line; failed attempts and stragglers have blocks of
    their own. Where several
    attempts share a column, a failed one is shown, else the last one.
    """
    cells: list[Span] = [(" ", "faint")] * period.columns
    failed: set[int] = set()
    for one in row.spans:
        end = period.end if one.ended is None else one.ended
        first, last = period.column(one.launched), period.column(max(one.launched, end - 1e-6))
        for column in range(max(0, first), min(period.columns - 1, last) + 1):
            if column in failed and one.outcome != "failed":
                continue
            at = period.begin + (column + 1) * period.step
            is_staging = one.started is None or at <= one.started
            sign = glyphs.rest if is_staging else glyphs.bar[_block(one, slow)]
            cells[column] = (sign, look(one))
            if one.outcome == "failed":
                failed.add(column)
    name = "" if (row.slot or 1) > 1 else foreign(row.of)
    about = f"{row.busy:.0%}" if row.slot == 1 else ""
    name = pad(name, LABEL - 5 - 1, ellipsis=glyphs.ellipsis)
    return ((f" {name}", "strong"), (pad(about, 4, right=True) + " ", "faint"), *cells)


def _block(one: AttemptSpan, slow: set[AttemptSpan]) -> str:
    """Return the kind of block of an attempt: colour alone has no meaning."""
    if one.ended is not None and look_of_state(one) == "bad":
        return "failed"
    return "launched" if one in slow else "successful"


def at_column(row: TimeRow, period: Period, column: int) -> AttemptSpan | None:
    """Return the attempt that a row shows in a column."""
    found: AttemptSpan | None = None
    for one in row.spans:
        end = period.end if one.ended is None else one.ended
        first, last = period.column(one.launched), period.column(max(one.launched, end - 1e-6))
        is_over = found is not None and found.outcome == "failed" and one.outcome != "failed"
        if first <= column <= last and not is_over:
            found = one
    return found


def axis(period: Period, cursor: int, glyphs: Glyphs) -> Line:
    """Return the times of some columns, and a mark at the column of the cursor."""
    text = [" "] * period.columns
    form = "%H:%M:%S" if period.end - period.begin <= 900 else "%H:%M"
    form = "%a %H:%M" if period.end - period.begin > 86_400 else form
    for column in range(0, period.columns - 10, 14):
        words = time.strftime(form, time.localtime(period.begin + column * period.step))
        text[column : column + len(words) + 1] = [glyphs.upright, *words]
    line = "".join(text)[: period.columns]
    cursor = max(0, min(cursor, period.columns - 1))
    return ((" " * LABEL, ""), (line[:cursor], "faint"), (line[cursor : cursor + 1], "match"),
            (line[cursor + 1 :], "faint"))  # fmt: skip


def period_for(spans: Sequence[AttemptSpan], now: float) -> int:
    """Return the shortest period that shows all of them, as its number."""
    whole = now - min((one.launched for one in spans), default=now)
    return next((index for index, one in enumerate(PERIODS) if one >= whole), len(PERIODS) - 1)
