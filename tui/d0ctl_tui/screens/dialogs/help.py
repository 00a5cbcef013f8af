"""All keys, from the table of commands, in as many columns as fit."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from textual.app import ComposeResult

from d0ctl.show.drawing.spans import EMPTY, Line, Span, pad, width, wrap
from d0ctl.units import count
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.commands import Command, bindings
from d0ctl_tui.screens.dialogs.dialog import Dialog
from d0ctl_tui.widgets.status_lines import Page

KEY = 10

TITLES = {"move": "moving", "tree": "the tree", "look": "looking", "act": "acting", "rest": "else"}

CLOSE = (Command("question_mark,f1,q", "close", "close", "rest"),)


class Help(Dialog[None]):
    """The keys of the screen below it."""

    BINDINGS = bindings(CLOSE)
    TITLE_HERE = "keys"

    def __init__(self, dashboard: AppInterface, commands: Sequence[Command]) -> None:
        super().__init__(dashboard)
        self.commands = commands
        self.page = Page("words", self._draw, dashboard.glyphs)

    def body(self) -> ComposeResult:
        """Yield the keys."""
        yield self.page

    def on_mount(self) -> None:
        """Take the keys that scroll."""
        self.page.focus()
        self.call_after_refresh(self.page.renew)
        for attribute in ("scroll_y", "virtual_size"):
            self.watch(self.page, attribute, self._show_rest)

    def on_resize(self) -> None:
        """Say for another size whether there is more."""
        self.call_after_refresh(self._show_rest)

    def _show_rest(self) -> None:
        """Say in the border below whether there is more."""
        rest = self.page.max_scroll_y - self.page.scroll_offset.y
        more = f"{count(rest, 'more line')} below" if rest > 0 else ""
        self.query_one("#box").border_subtitle = more

    def _draw(self, columns: int) -> list[Line]:
        return keys(self.commands, columns - 1)  # a scroll bar


def keys(commands: Iterable[Command], columns: int) -> list[Line]:
    """Return the keys by section, in one column or two; nothing is cut."""
    order = list(TITLES)
    ranked = sorted(commands, key=lambda command: order.index(command.section))
    is_narrow = columns < 75
    room = columns if is_narrow else columns // 2 - 2
    blocks = [
        [
            ((TITLES[section], "title"),),
            *(line for row in group for line in _rows(row, room)),
            EMPTY,
        ]
        for section, group in groupby(ranked, key=lambda command: command.section)
    ]
    if is_narrow:
        return [line for block in blocks for line in block][:-1]
    half = sum(map(len, blocks)) / 2
    left: list[Line] = []
    while blocks and len(left) < half - 2:
        left += blocks.pop(0)
    right = [line for block in blocks for line in block]
    return _beside(left[:-1], right[:-1], columns)


def _rows(command: Command, columns: int) -> list[Line]:
    """Return a key and what it does, in as many lines as that needs."""
    pieces = wrap(command.title, columns - KEY - 2)
    keys_of = [pad(command.key, KEY), *[" " * KEY] * (len(pieces) - 1)]
    return [((key, "key"), (f"  {piece}", "plain"))
            for key, piece in zip(keys_of, pieces, strict=True)]  # fmt: skip


def _beside(left: Sequence[Line], right: Sequence[Line], columns: int) -> list[Line]:
    half = columns // 2
    lines: list[Line] = []
    for index in range(max(len(left), len(right))):
        line: Sequence[Span] = left[index] if index < len(left) else EMPTY
        other: Sequence[Span] = right[index] if index < len(right) else EMPTY
        lines.append((*line, (" " * (half - width(line)), ""), *other))
    return lines
