"""What can be done in a box: keys with words, in as many lines as they need; a click does it."""

from collections.abc import Callable, Sequence

from d0ctl.show.drawing.signs import Glyphs
from d0ctl.show.drawing.spans import EMPTY, Line, width, wrap
from d0ctl_tui.widgets.lines import LineView

Choice = tuple[str, str, str]
"""A key, which may be empty, what it does, and the role of these words."""

GAP = 3

INDENT = ""
"""The role of the blanks before words that go on from the line above."""


class ChoiceLines(LineView, can_focus=False):
    """Keys with words, none of which is cut."""

    def __init__(
        self,
        id: str,
        choices: Callable[[], Sequence[Choice]],
        press: Callable[[str], object],
        glyphs: Glyphs,
    ) -> None:
        super().__init__(id=id, glyphs=glyphs)
        self._choices = choices
        self._press_key = press
        self._lines: list[Line] = []

    def renew(self) -> None:
        """Draw again, in as many rows as are needed."""
        if self.size.width:
            self._lines = arranged(self._choices(), self.size.width)
            self.styles.height = max(1, len(self._lines))
        super().renew()

    def on_resize(self, event: object) -> None:
        """Break the lines for another width."""
        self.renew()

    def line_count(self) -> int:
        """Return how many lines the keys take."""
        return len(self._lines)

    def line(self, number: int, columns: int) -> Line:
        """Return one of the lines."""
        return self._lines[number] if number < len(self._lines) else EMPTY

    def click_line(self, number: int, column: int) -> None:
        """Do what the key or word at this column does."""
        line = self.line(number, self.size.width)
        left, key = 0, self._key_before(number) if line and line[0][1] == INDENT else ""
        for text, role in line:
            key = text if role == "key" else key
            left += width([(text, role)])
            if column < left and key:
                self._press_key(key)
                return

    def _key_before(self, number: int) -> str:
        """Return the last key above a line, whose words go on there."""
        above = [text for line in self._lines[:number] for text, role in line if role == "key"]
        return above[-1] if above else ""


def arranged(choices: Sequence[Choice], columns: int) -> list[Line]:
    """Return choices beside each other, in lines of at most these columns.

    The words of a choice that is longer than a line go on below, indented.
    """
    lines: list[Line] = []
    line: Line = ()
    for key, title, role in choices:
        spans: Line = ((key, "key"), (f" {title}", role)) if key else ((title, role),)
        if line and width(line) + GAP + width(spans) > columns:
            lines.append(line)
            line = ()
        if width(spans) > columns:
            lines += _broken(key, title, role, columns)
            continue
        line = (*line, (" " * GAP, ""), *spans) if line else spans
    return [*lines, line] if line else lines


def _broken(key: str, title: str, role: str, columns: int) -> list[Line]:
    """Return a choice in several lines."""
    indent = width([(key, "")]) + 1 if key else 0
    first, *more = wrap(title, columns - indent)
    if not key:
        return [((piece, role),) for piece in (first, *more)]
    rest: list[Line] = [((" " * indent, INDENT), (piece, role)) for piece in more]
    return [((key, "key"), (f" {first}", role)), *rest]
