"""The page of `report timeline`: what the timeline of the dashboard shows, as text."""

from collections.abc import Sequence

from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.drawing.spans import Span
from d0ctl.show.history import time_rows
from d0ctl.show.history.time_rows import LABEL, Period
from d0ctl.store.history.attempt_spans import MOST, AttemptSpan
from d0ctl.units import count, duration

MOST_ROWS = 200
"""How many rows are drawn."""

NOTHING = "nothing has run yet"

MARGIN = 0.02
"""The part of the time that is left free at the right."""


def draw(sheet: Sheet, spans: Sequence[AttemptSpan], job: str | None, now: float) -> None:
    """Draw the slots of nodes, or the lines of a job, from the first launch to the last end."""
    if not spans:
        sheet.say(NOTHING)
        return
    begin, last = extent(spans, now)
    end = max(last + MARGIN * (last - begin), begin + 1.0)
    period = Period(begin, end, max(1, sheet.columns - LABEL))
    rows = time_rows.slots(spans, last, begin) if job is None else time_rows.lines(spans)
    slow = time_rows.marked(time_rows.stragglers(spans, last), spans)
    of = "slots of nodes" if job is None else f"lines of {job}"
    sheet.head(of, f"{count(len(spans), 'attempt')} in {duration(last - begin)}")
    sheet.lines.append(time_rows.axis(period, period.columns, sheet.glyphs))
    for row in rows[:MOST_ROWS]:
        line = time_rows.draw(row, period, sheet.glyphs, time_rows.look_of_state, slow)
        sheet.lines.append(line)
    if len(rows) > MOST_ROWS:
        sheet.add((f"and {count(len(rows) - MOST_ROWS)} more: d0ctl tui {job or ''}, then i",
                   "faint"))  # fmt: skip
    has_lost = any(span.outcome == "lost" for span in spans)
    sheet.add(*_legend(sheet, has_lost=has_lost, has_slow=bool(slow), has_waits=job is not None))


def extent(spans: Sequence[AttemptSpan], now: float, most: int = MOST) -> tuple[float, float]:
    """Return the first launch of the last attempts, and the last end: now if something still runs.

    Of the time before, only some attempts are known, those that run.
    """
    ends = (span.until(now) for span in spans)
    return min((span.launched for span in spans[-most:]), default=now), max(ends, default=now)


def _legend(sheet: Sheet, *, has_lost: bool, has_slow: bool, has_waits: bool) -> list[Span]:
    bar = sheet.glyphs.bar
    legend: list[Span] = [
        (f"{bar['successful']} ran  ", "good"),
        (f"{bar['failed']} failed  ", "bad"),
    ]
    if has_lost:
        legend.append((f"{bar[time_rows.BLOCKS['lost']]} lost  ", "bad"))
    if has_slow:
        legend.append((f"{bar['launched']} straggler  ", "warn"))
    if has_waits:  # the time before the start: on a node that was down, too
        legend.append((f"{sheet.glyphs.rest} waited or was staged in", "faint"))
    return legend
