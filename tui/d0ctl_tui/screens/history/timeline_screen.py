"""Attempts over time: the slots of nodes, or the lines of a job, as rows."""

import time

from textual.app import ComposeResult

from d0ctl.show.drawing.spans import Line, Span, foreign, spread
from d0ctl.show.history import time_rows
from d0ctl.show.history.time_rows import LABEL, PERIODS, Period, TimeRow
from d0ctl.store.connection import Store
from d0ctl.store.history import attempt_spans
from d0ctl.store.history.attempt_spans import MOST, AttemptSpan
from d0ctl.store.views import browse
from d0ctl.units import count, moment
from d0ctl_tui.app_events import LineOpened
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.commands import SUB, TIMELINE, bindings
from d0ctl_tui.screens.sub import SubScreen
from d0ctl_tui.widgets.lines import LineView
from d0ctl_tui.widgets.status_lines import StatusLine

AGAIN_S = 1.0
"""How long the rows stay unchanged while more packages start and end."""


class TimeRows(LineView):
    """The rows; only visible ones are drawn."""

    has_cursor = True
    nothing = "nothing ran in this time"

    def __init__(self, dashboard: AppInterface) -> None:
        super().__init__(id="times", glyphs=dashboard.glyphs)
        self.rows: list[TimeRow] = []
        self.slow: set[AttemptSpan] = set()
        self.period = Period(0.0, 1.0, 1)
        self.by_stage = False

    def line_count(self) -> int:
        """Return how many slots or lines there are."""
        return len(self.rows)

    def line(self, number: int, columns: int) -> Line:
        """Return a slot or line."""
        role_of = time_rows.look_of_stage if self.by_stage else time_rows.look_of_state
        return time_rows.draw(self.rows[number], self.period, self.glyphs, role_of, self.slow)


class TimelineScreen(SubScreen):
    """When and where the last attempts ran, up to the moment that the dashboard shows."""

    BINDINGS = bindings(TIMELINE, SUB)
    COMMANDS_HERE = TIMELINE

    def __init__(self, dashboard: AppInterface, job: str | None) -> None:
        super().__init__(dashboard)
        self.job = job
        self.by_line = False
        self.view = TimeRows(dashboard)
        self.axis = StatusLine("columns", self._axis, dashboard.glyphs)
        self._spans: list[AttemptSpan] = []
        self._zoom: int | None = None
        self._back = 0
        """How many columns the cursor is before the right edge."""
        self._read_at = 0.0
        self._moment: float | None = -1.0

    def body(self) -> ComposeResult:
        """Yield the times, and the rows."""
        yield self.axis
        yield self.view

    def on_mount(self) -> None:
        """Read the attempts; the right edge goes on with the clock."""
        self.view.focus()
        self.call_after_refresh(self.update)
        self.set_interval(AGAIN_S, self._arrange)

    def on_resize(self) -> None:
        """Share another width."""
        self.call_after_refresh(self._arrange)

    @property
    def now(self) -> float:
        """The moment at the right edge."""
        return self.dashboard.source.at or time.time()

    def headline(self, columns: int) -> Line:
        """Return what is shown, and the attempt at the cursor."""
        period = self.view.period
        of = f"lines of {foreign(self.job or '')}" if self.by_line else "slots of nodes"
        left: list[Span] = [(f" {of} over time", "title"),
                            (f"  {period.length}", "faint")]  # fmt: skip
        if self.view.slow:
            left.append((f"  {count(len(self.view.slow), 'straggler')}", "warn"))
        if len(self._spans) >= MOST:
            left.append((f"  the last {MOST:,} attempts, and all that run", "faint"))
        at = period.begin + (self._column + 0.5) * period.step
        right: list[Span] = [(f"{moment(at, self.now)} ", "faint")]
        if (span := self._cursor_span) is not None:
            summary = time_rows.summary(span, self.now)
            right = [(f"{foreign(span.path)} ", "strong"),
                     (f"{summary} ", time_rows.look_of_state(span)),
                     (f"{foreign(span.reason)} " if span.reason else "", "bad"),
                     *right]  # fmt: skip
        return spread(left, right, columns)

    def update(self) -> None:
        """Read again after a change, but not too often; at once for another moment."""
        at = self.dashboard.source.at
        if at != self._moment or time.monotonic() - self._read_at > AGAIN_S:
            self._moment, self._read_at = at, time.monotonic()
            self._spans = self.dashboard.source.ask(self._read, self._spans)
        self._arrange()

    def _read(self, store: Store) -> list[AttemptSpan]:
        job = browse.job(store, self.job).id if self.by_line and self.job else None
        return attempt_spans.latest(store, job)

    def _arrange(self) -> None:
        """Make rows of the attempts, and show them."""
        zoom = time_rows.period_for(self._spans, self.now) if self._zoom is None else self._zoom
        begin, columns = self.now - PERIODS[zoom], max(1, self.view.size.width - LABEL)
        self.view.period = Period(begin, self.now, columns)
        self._back = min(self._back, columns - 1)
        visible = [span for span in self._spans if span.until(self.now) > begin]
        slow = time_rows.stragglers(self._spans, self.now)
        self.view.slow = time_rows.marked(slow, visible)
        self.view.rows = (
            time_rows.lines(visible) if self.by_line else time_rows.slots(visible, self.now, begin)
        )
        self.axis.renew()
        self.view.renew()
        super().update()

    @property
    def _column(self) -> int:
        return self.view.period.columns - 1 - self._back

    @property
    def _cursor_span(self) -> AttemptSpan | None:
        if not self.view.rows:
            return None
        row = self.view.rows[min(self.view.cursor, len(self.view.rows) - 1)]
        return time_rows.at_column(row, self.view.period, self._column)

    def on_cursor_moved(self) -> None:
        """Say what is at the cursor."""
        super().update()

    def on_line_opened(self, message: LineOpened) -> None:
        """Go to the package at the cursor."""
        self.action_go()

    def action_shift(self, by: int) -> None:
        """Move the cursor in time."""
        step = max(1, self.view.period.columns // 60)
        self._back = max(0, min(self.view.period.columns - 1, self._back - by * step))
        self.axis.renew()
        super().update()

    def action_zoom(self, by: int) -> None:
        """Show a shorter or a longer time."""
        zoom = time_rows.period_for(self._spans, self.now) if self._zoom is None else self._zoom
        self._zoom = max(0, min(len(PERIODS) - 1, zoom + by))
        self._arrange()

    def action_rows(self) -> None:
        """Show the slots of nodes, or the lines of the job."""
        if self.job is None:
            self.dashboard.show_notice("there is no job whose lines could be shown")
            return
        self.by_line, self._moment = not self.by_line, -1.0
        self.view.cursor = 0
        self.update()

    def action_colours(self) -> None:
        """Colour by state, or by stage."""
        self.view.by_stage = not self.view.by_stage
        self.view.renew()

    def action_go(self) -> None:
        """Go to the package at the cursor."""
        if (span := self._cursor_span) is not None:
            self.app.pop_screen()
            self.dashboard.go_to(span.path)

    def action_moment(self) -> None:
        """Show everything as it was at the cursor."""
        at = self.view.period.begin + (self._column + 0.5) * self.view.period.step
        self.app.pop_screen()
        self.dashboard.show_as_of(at)

    def _axis(self, columns: int) -> Line:
        return time_rows.axis(self.view.period, self._column, self.dashboard.glyphs)
