"""The logbook: actions of people and of d0ctl, ends of jobs and failures of the last day."""

import time
from functools import partial

from textual import work
from textual.app import ComposeResult

from d0ctl.errors import D0Error
from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.drawing.spans import Line, text
from d0ctl.show.history import logbook_page
from d0ctl.show.history.logbook_page import Logbook
from d0ctl.store.opening import reader
from d0ctl_tui.app_events import ThreadResult
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.commands import LOGBOOK, SUB, bindings
from d0ctl_tui.screens.sub import SubScreen
from d0ctl_tui.widgets.status_lines import Page

PERIOD_S = 86400.0
"""How far back it goes."""

MOST = 500
"""How many actions, ends and outages it lists."""

AGAIN_S = 5.0
"""How long it stays unchanged while more happens."""


class LogbookScreen(SubScreen):
    """The page of `history` for the last day, read in a thread."""

    BINDINGS = bindings(LOGBOOK, SUB)
    COMMANDS_HERE = LOGBOOK

    def __init__(self, dashboard: AppInterface) -> None:
        super().__init__(dashboard)
        self.page = Page("card", self._draw_sheet, dashboard.glyphs)
        self._logbook: Logbook | None = None
        self._asked_at = self._read_at = 0.0
        self._error = ""

    def body(self) -> ComposeResult:
        """Yield the page."""
        yield self.page

    def on_mount(self) -> None:
        """Read it."""
        self.page.focus()
        self.action_reload()

    def headline(self, columns: int) -> Line:
        """Return the title."""
        return ((" the logbook", "title"), ("  of the last 24 hours; all: d0ctl history", "faint"))

    def update(self) -> None:
        """Read it again if that was not done just now."""
        super().update()
        if time.time() - self._asked_at > AGAIN_S:
            self.action_reload()

    def action_reload(self) -> None:
        """Read it again."""
        self._asked_at = time.time()
        self._read(self._asked_at)

    def action_copy(self) -> None:
        """Copy it as text."""
        self.dashboard.copy("\n".join(text(line).rstrip() for line in self.page.lines))

    @work(thread=True, exclusive=True)
    def _read(self, now: float) -> None:
        found, error = None, ""
        try:
            with reader(self.dashboard.home) as store, store.reading():
                found = logbook_page.read(store, now - PERIOD_S, now, MOST)
        except D0Error as failed:
            error = str(failed)
        self.dashboard.post_message(ThreadResult(partial(self._take, found, now, error)))

    def _take(self, found: Logbook | None, now: float, error: str) -> None:
        self._logbook, self._read_at, self._error = found, now, error
        if self.is_mounted:
            self.page.renew()

    def _draw_sheet(self, columns: int) -> list[Line]:
        sheet = Sheet(columns - 1, self.dashboard.glyphs, archive=self.dashboard.home.archive)
        if self._error:
            sheet.say(self._error, "warn")
        elif self._logbook is not None:
            logbook_page.draw(sheet, self._logbook, self._read_at, MOST)
        return sheet.lines
