"""The window of a log that is shown, and its title: lines cut or wrapped, moved by keys."""

from collections.abc import Callable
from dataclasses import dataclass

from d0ctl.show.drawing.spans import EMPTY, Line, Span, foreign
from d0ctl.units import size
from d0ctl_tui.app_events import Repeated
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.draw import log_search, log_text
from d0ctl_tui.draw.pager import Pager
from d0ctl_tui.read.logs import Log
from d0ctl_tui.widgets.lines import LineView

Move = Callable[[Pager, int], None]
"""Moves a window of some height."""


def to_end(pager: Pager, height: int) -> None:
    """Go to the last page."""
    pager.to_end(height)


def stay(pager: Pager, height: int) -> None:
    """Leave the window where it is."""


@dataclass
class WindowRead(Repeated):
    """The window of the log has new contents."""

    lines: list[tuple[int, str]]
    row: int
    size: int
    notice: str = ""
    error: str = ""
    """Why it can't be read; the lines are the last ones that are known anyway."""


class LogPane(LineView):
    """The window; its lines come from a thread that reads."""

    def __init__(self, dashboard: AppInterface) -> None:
        super().__init__(id="pager", glyphs=dashboard.glyphs)
        self.shown: list[tuple[int, str]] = []
        self.notice: list[Span] = []
        """The text if there are no lines, one line each."""
        self.found = ""
        self.is_wrapped = False
        self.left = 0
        self._rows: list[Line] = []
        self.move: Callable[[Move], None] = lambda move: None

    def lay_out(self, row: int) -> None:
        """Make rows of the lines, beginning at a row of the first."""
        columns = self.size.width
        self._rows = [(span,) for span in self.notice]
        for _, text in self.shown:
            self._rows += self.rows_of(text, columns)
        if self.is_wrapped:
            del self._rows[: min(row, len(self._rows))]
        self.renew()

    def rows_of(self, text: str, columns: int) -> list[Line]:
        """Return a line of the log as rows, with the searched words highlighted."""
        line = log_text.marked(log_text.spans(text), self.found)
        if self.is_wrapped:
            return log_text.wrapped(line, columns)
        return [log_text.shifted(line, self.left, columns, self.glyphs.ellipsis)]

    def show_match(self) -> None:
        """Move sideways as far as needed to show the match in the first line."""
        text = "".join(piece for piece, _ in log_text.spans(self.shown[0][1])) if self.shown else ""
        edges, columns = log_search.parse(self.found).edges(text), self.size.width
        if edges and not self.is_wrapped:
            begin, end = edges[0]
            if not self.left <= begin <= self.left + columns - (end - begin):
                self.left = max(0, end - columns // 2)

    def position(self, length: int, state: str) -> list[Span]:
        """Return how far into a log of some length and state the window reaches."""
        at, line = self.shown[-1] if self.shown else (0, "")
        share = min(100, 100 * (at + len(line.encode()) + 1) // max(1, length))
        state_role = "faint" if state == "ended" else "live"
        wrapped = [("wrapped  ", "faint")] if self.is_wrapped else []
        return [(f"{state}  ", state_role), *wrapped, (f"{size(length)}  {share} % ", "faint")]

    def line_count(self) -> int:
        """Never more than the window holds."""
        return min(len(self._rows), self.size.height)

    def line(self, number: int, columns: int) -> Line:
        """Return a row of the log."""
        return self._rows[number] if number < len(self._rows) else EMPTY

    def action_cursor(self, by: int) -> None:
        """Move the window."""
        if by > 0:
            self.move(lambda pager, height: pager.forward(by, height))
        else:
            self.move(lambda pager, height: pager.backward(-by))

    def action_top(self) -> None:
        """Go to the first byte."""
        self.move(lambda pager, height: pager.to_start())

    def action_bottom(self) -> None:
        """Go to the last page."""
        self.move(to_end)

    def _on_mouse_scroll_down(self, event: object) -> None:
        self.action_cursor(3)

    def _on_mouse_scroll_up(self, event: object) -> None:
        self.action_cursor(-3)


def remark(news: WindowRead, again: str) -> list[Span]:
    """Return the text above the lines, if it can't be read, or in the place of lines."""
    if not news.error:
        return [] if news.lines else [("nothing was printed", "faint")]
    known = "only its last lines are known" if news.lines else "its contents are unknown"
    return [(f"this log can't be read: {foreign(news.error)}", "bad"),
            (f"{known}; {again} tries again", "plain")]  # fmt: skip


def last_errors(log: Log, binary: int, stream: str) -> list[tuple[int, str]]:
    """Return the last lines that are known of a stream that can't be read."""
    if stream != "err" or log.failed_binary not in (None, binary):
        return []
    return [(0, line) for line in log.last_errors.rstrip().splitlines()]


def title(log: Log, binary: int, stream: str) -> list[Span]:
    """Return which attempt, binary and stream is shown."""
    name = f"binary {binary}/{log.binaries} std{stream}"
    return [(f" {foreign(log.path)} ", "strong"),
            (f" attempt {log.number} on {foreign(log.address.name)}  {name}", "plain")]  # fmt: skip
