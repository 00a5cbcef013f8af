"""A list of any length that draws only visible lines, and sends only their changes."""

from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBarRender
from textual.strip import Strip

from d0ctl.show.drawing.signs import ASCII, UNICODE, Glyphs
from d0ctl.show.drawing.spans import ELLIPSIS, EMPTY, Line, cell_len, fit, merged, width
from d0ctl_tui.app_events import CursorMoved, LineOpened
from d0ctl_tui.commands import MOVE, bindings

WHEEL = 3
"""How many lines a turn of the mouse wheel scrolls."""

GROUNDED = ("match", "stale")
"""Looks with backgrounds of their own, which the row of the cursor keeps."""

PLAIN = {ELLIPSIS: ".", "·": "-", "→": ">", "↑": "^", "↓": "v"}
"""ASCII equivalents of signs in d0ctl's texts; all others become question marks."""


class PlainScrollBar(ScrollBarRender):
    """A scroll bar without glyphs."""

    VERTICAL_BARS = [" "]  # noqa: RUF012
    HORIZONTAL_BARS = [" "]  # noqa: RUF012


class LineView(ScrollView, can_focus=True):
    """Lines by number. Subclasses say how many there are and what is on each."""

    BINDINGS = bindings(MOVE)

    has_cursor = False
    nothing = ""
    """What is said if there is no line."""

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(id=id)
        self.glyphs = glyphs
        self.cursor = 0
        self._drawn: dict[int, Strip] = {}
        self._styles: dict[tuple[str, str], Style] = {}

    def on_mount(self) -> None:
        """Draw the scroll bar without glyphs if there are none."""
        if self.glyphs is ASCII:
            self.vertical_scrollbar.renderer = PlainScrollBar  # type: ignore[misc]

    @property
    def is_lit(self) -> bool:
        """Whether keys go here, so that the cursor is shown."""
        return self.has_focus

    def line_count(self) -> int:
        """Return how many lines there are."""
        raise NotImplementedError

    def line(self, number: int, columns: int) -> Line:
        """Return the contents of a line."""
        raise NotImplementedError

    @property
    def most_pinned(self) -> int:
        """How many rows lines that do not scroll may take."""
        return 0

    def pinned(self, top: int) -> Sequence[int]:
        """Return the lines that are shown instead of the first ones when scrolled to `top`."""
        return ()

    def line_at(self, y: int) -> int:
        """Return which line a row of the screen shows, counted from the top."""
        top = self.scroll_offset.y
        pinned = self.pinned(top)
        return pinned[y] if y < len(pinned) else top + y

    def is_under_cursor(self, number: int) -> bool:
        """Return whether a line is highlighted."""
        return number == self.cursor

    def renew(self) -> None:
        """Draw all visible lines again, and send those that changed."""
        if not self.is_mounted:
            return
        self._measure()
        for row in range(self.size.height):
            old, new = self._drawn.get(row), self.strip_at(row)
            if old is None or old != new:
                self.refresh(_difference(old, new, row, self.size.width))

    def move_to(self, number: int) -> None:
        """Move the cursor to a line and make it visible."""
        last = self.line_count() - 1
        number = max(0, min(number, last))
        moved, self.cursor = number != self.cursor, number
        self._measure()
        self._show_cursor()
        self.renew()
        if moved:
            self.post_message(CursorMoved(number))

    def render_line(self, y: int) -> Strip:
        """Return one visible line, counted from the top."""
        self._drawn[y] = self.strip_at(y)
        return self._drawn[y]

    def notify_style_update(self) -> None:
        """Compute the styles of another theme."""
        self._styles.clear()
        self._drawn.clear()
        super().notify_style_update()

    def on_resize(self, _: events.Resize) -> None:
        """Show the lines that fit another size."""
        self._drawn.clear()
        self._measure()
        if self.has_cursor:
            self._show_cursor()
        self.refresh()

    def on_focus(self) -> None:
        """Show the cursor."""
        self.renew()

    def on_blur(self) -> None:
        """Show the cursor faintly."""
        self.renew()

    def on_click(self, event: events.Click) -> None:
        """Select a clicked line; open it at the second click."""
        offset = event.get_content_offset(self)
        if offset is None or (number := self.line_at(offset.y)) >= self.line_count():
            return
        if self.has_cursor and event.chain > 1:
            self.open_line(number, offset.x)
            return
        if self.has_cursor:
            self.move_to(number)
        self.click_line(number, offset.x)

    def click_line(self, number: int, column: int) -> None:
        """Handle a single click on a line."""

    def open_line(self, number: int, column: int | None = None) -> None:
        """Show the contents of a line."""
        self.post_message(LineOpened(number))

    def action_cursor(self, by: int) -> None:
        """Move the cursor, or scroll if there is none."""
        if self.has_cursor:
            self.move_to(self.cursor + by)
        else:
            self.scroll_to(y=self.scroll_offset.y + by, animate=False, immediate=True, force=True)

    def action_page(self, by: int) -> None:
        """Move by a page."""
        self.action_cursor(by * max(1, self.size.height - 1 - self.most_pinned))

    def action_half(self, by: int) -> None:
        """Move by half a page."""
        self.action_cursor(by * max(1, self.size.height // 2))

    def action_top(self) -> None:
        """Go to the first line."""
        self.action_cursor(-self.line_count())

    def action_bottom(self) -> None:
        """Go to the last line."""
        self.action_cursor(self.line_count())

    def action_open_line(self) -> None:
        """Open the line under the cursor."""
        if self.line_count():
            self.open_line(self.cursor)

    def _on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self.scroll_to(y=self.scroll_offset.y + WHEEL, animate=False, immediate=True, force=True)
        event.stop()

    def _on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self.scroll_to(y=self.scroll_offset.y - WHEEL, animate=False, immediate=True, force=True)
        event.stop()

    def _measure(self) -> None:
        count = self.line_count()
        if self.virtual_size.height != count or self.virtual_size.width != self.size.width:
            self.virtual_size = Size(self.size.width, count)
        if self.cursor >= count:
            self.cursor = max(0, count - 1)

    def _show_cursor(self) -> None:
        if not (height := self.size.height):
            return
        top = min(max(self.scroll_offset.y, self.cursor - height + 1), self.cursor)
        while top + len(self.pinned(top)) > self.cursor:
            top -= 1
        if top != self.scroll_offset.y:
            self.scroll_to(y=top, animate=False, immediate=True, force=True)

    def strip_at(self, y: int) -> Strip:
        """Return what is drawn on a row of the screen, counted from the top."""
        number, columns = self.line_at(y), self.size.width
        lines = self.line_count()
        there = 0 <= number < lines
        line = self.line(number, columns) if there else EMPTY
        if self.nothing and not lines and number == 0:
            line = fit(((f" {self.nothing}", "faint"),), columns)
        spare = columns - width(line)
        if spare > 0:
            line = (*line, (" " * spare, ""))
        lit = there and self.has_cursor and self.is_under_cursor(number)
        over = "pinned" if number != self.scroll_offset.y + y else ""
        if lit:
            over = "cursor" if self.is_lit else "blurred"
        if self.glyphs is ASCII:
            line = tuple((in_ascii(text), role) for text, role in line)
        strip = Strip([Segment(text, self.style_of(role, over)) for text, role in merged(line)])
        return strip.crop(0, columns) if spare < 0 else strip

    def style_of(self, role: str, over: str = "") -> Style:
        """Return the style of a look in the present theme, on a line that has a look itself."""
        readable = "plain" if over not in ("", "pinned") and role == "faint" else role
        key = readable or "plain", over if role not in GROUNDED else ""
        if key not in self._styles:
            style = self.rich_style
            for name in key:
                if name:
                    style += self.screen.get_component_rich_style(f"look--{name}", partial=True)
            self._styles[key] = style
        return self._styles[key]


def in_ascii(text: str) -> str:
    """Return a text of the same width with only ASCII characters."""
    if text.isascii():
        return text
    return "".join(
        character if character.isascii() else PLAIN.get(character) or "?" * cell_len(character)
        for character in text
    )


def _difference(old: Strip | None, new: Strip, row: int, columns: int) -> Region:
    """Return the part of a row in which two strips differ."""
    if old is None or old.cell_length != new.cell_length:
        return Region(0, row, columns, 1)
    before, after = list(old), list(new)
    left = 0
    while before and after and before[0] == after[0]:
        left += before.pop(0).cell_length
        after.pop(0)
    right = 0
    while before and after and before[-1] == after[-1]:
        right += before.pop().cell_length
        after.pop()
    return Region(left, row, max(1, columns - left - right), 1)
