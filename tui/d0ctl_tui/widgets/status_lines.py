"""Lines drawn by a function: header, column heads, the keys below."""

from collections.abc import Callable

from d0ctl.show.drawing import sheet
from d0ctl.show.drawing.signs import UNICODE, Glyphs
from d0ctl.show.drawing.spans import EMPTY, Line
from d0ctl_tui.app_events import CommandClicked, PathClicked
from d0ctl_tui.widgets.lines import LineView

Draw = Callable[[int], Line]
"""Makes a line of a width."""


class StatusLine(LineView, can_focus=False):
    """A line that its owner draws."""

    def __init__(
        self, id: str, draw: Draw, glyphs: Glyphs = UNICODE, click: Callable[[int], object] = int
    ) -> None:
        super().__init__(id=id, glyphs=glyphs)
        self.add_class("band")
        self._draw = draw
        self._click = click

    def line_count(self) -> int:
        """Return one, always."""
        return 1

    def line(self, number: int, columns: int) -> Line:
        """Draw a line."""
        return self._draw(columns)

    def click_line(self, number: int, column: int) -> None:
        """Do what the word at this column does."""
        self._click(column)


class Page(LineView):
    """Lines of a width, drawn at once and scrolled.

    A click on a path goes there, one on a command copies it; a line of a `list` is one path.
    """

    def __init__(
        self, id: str, draw: Callable[[int], list[Line]], glyphs: Glyphs, *, is_list: bool = False
    ) -> None:
        super().__init__(id=id, glyphs=glyphs)
        self._is_list = is_list
        self._draw = draw
        self.lines: list[Line] = []
        self._columns = 0

    def line_count(self) -> int:
        """Return how many lines were drawn."""
        return len(self.lines)

    def line(self, number: int, columns: int) -> Line:
        """Return one of the drawn lines."""
        return self.lines[number] if number < len(self.lines) else EMPTY

    def click_line(self, number: int, column: int) -> None:
        """Follow the path or command at this column."""
        if command := sheet.command_at(self.lines, number):
            self.post_message(CommandClicked(command))
        elif path := sheet.path_at(self.lines[number], None if self._is_list else column):
            self.post_message(PathClicked(path))

    def renew(self) -> None:
        """Draw again."""
        self._columns = self.size.width
        if self._columns:
            self.lines = self._draw(self._columns)
        super().renew()

    def on_resize(self, event: object) -> None:
        """Break lines for another width."""
        if self.size.width != self._columns:
            self.renew()
