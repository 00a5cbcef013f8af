"""The window of a log that is shown: its lines cut or wrapped, moved by keys and the wheel."""

from collections.abc import Callable
from dataclasses import dataclass

from d0ctl.show.drawing.spans import EMPTY, Line, Span, foreign
from d0ctl_tui.app_events import Repeated
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.draw import log_search, log_text
from d0ctl_tui.draw.pager import Pager
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

    def share_of(self, length: int) -> int:
        """Return how far into a log of some length the window reaches, in percent."""
        at, line = self.shown[-1] if self.shown else (0, "")
        return min(100, 100 * (at + len(line.encode()) + 1) // max(1, length))

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


def nothing(error: str, again: str) -> list[Span]:
    """Return the text if there are no lines, for an error if there is one."""
    if not error:
        return [("nothing was printed", "faint")]
    return [(f"this log can't be read: {foreign(error)}", "bad"),
            (f"its contents are unknown; {again} tries again", "plain")]  # fmt: skip
