"""Two attempts beside each other."""

import time
from functools import partial

from textual import work
from textual.app import ComposeResult

from d0ctl.errors import D0Error
from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.drawing.spans import Line
from d0ctl.show.history import attempt_pair
from d0ctl.show.history.attempt_pair import Side
from d0ctl.store.opening import open_store
from d0ctl.store.sqlite_errors import database_errors
from d0ctl_tui.app_events import ThreadResult
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.read import logs
from d0ctl_tui.screens.sub import SubScreen
from d0ctl_tui.widgets.status_lines import Page

TAIL_BYTES = 4096


class ComparisonScreen(SubScreen):
    """The comparison of the attempts at one or two packages, read once, in a thread."""

    def __init__(self, dashboard: AppInterface, packages: list[str]) -> None:
        super().__init__(dashboard)
        self.packages = packages
        self.page = Page("card", self._draw_sheet, dashboard.glyphs)
        self._pair: tuple[Side, Side] | None = None
        self._logs = ("", "")
        self._error = ""

    def body(self) -> ComposeResult:
        """Yield the page."""
        yield self.page

    def on_mount(self) -> None:
        """Read both sides."""
        self.page.focus()
        self._read()

    def headline(self, columns: int) -> Line:
        """Return the title."""
        return ((" two attempts", "title"), ("  ≠ marks what differs, ? what may differ", "faint"))

    @work(thread=True, exclusive=True)
    def _read(self) -> None:
        home, second = self.dashboard.home, self.packages[1] if len(self.packages) > 1 else None
        try:
            with open_store(home, read_only=True) as store, database_errors(home):
                pair = attempt_pair.sides(store, self.packages[0], second)
                found = [
                    logs.find(store, attempt.package.path, attempt.attempt.number)
                    for attempt in pair
                ]
        except D0Error as error:
            self.dashboard.post_message(ThreadResult(partial(self._fail, str(error))))
            return
        self.dashboard.post_message(ThreadResult(partial(self._take, pair, ("", ""))))
        tails = tuple(_tail(log) for log in found)
        self.dashboard.post_message(ThreadResult(partial(self._take, pair, (tails[0], tails[1]))))

    def _take(self, pair: tuple[Side, Side], tails: tuple[str, str]) -> None:
        self._pair, self._logs = pair, tails
        if self.is_mounted:
            self.page.renew()

    def _fail(self, error: str) -> None:
        self._error = error
        if self.is_mounted:
            self.page.renew()

    def _draw_sheet(self, columns: int) -> list[Line]:
        sheet = Sheet(columns - 1, self.dashboard.glyphs)
        if self._error:
            sheet.say(self._error, "warn")
        elif self._pair is not None:
            attempt_pair.draw(sheet, self._pair, self._logs, time.time())
        return sheet.lines


def _tail(log: logs.Log) -> str:
    try:
        return log.tail(TAIL_BYTES)
    except D0Error as error:
        return f"[{error}]"
    finally:
        log.close()
