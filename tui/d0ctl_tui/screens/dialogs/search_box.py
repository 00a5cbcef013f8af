"""One dialog for search, palette, jump list and filter, and one for a question."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec import Struct
from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, Label
from textual.worker import get_current_worker

from d0ctl.errors import D0Error
from d0ctl.show.drawing.signs import Glyphs
from d0ctl.show.drawing.spans import (
    EMPTY,
    Line,
    Span,
    cell_len,
    foreign,
    spread,
    width,
    wrap,
)
from d0ctl_tui.app_events import LineOpened, ThreadResult
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.commands import Command, bindings
from d0ctl_tui.screens.dialogs.dialog import Dialog
from d0ctl_tui.widgets.field import Field
from d0ctl_tui.widgets.lines import LineView

KEYS = (
    Command("down,ctrl+n", "pick(1)", "next", "move"),
    Command("up,ctrl+p", "pick(-1)", "the one before", "move"),
    Command("pagedown", "pick(10)", "ten down", "move"),
    Command("pageup", "pick(-10)", "ten up", "move"),
)


class Choice(Struct, frozen=True):
    """A choice: its glyph and words, a remark, and its effect."""

    label: str
    about: str = ""
    key: str = ""
    role: str = "strong"
    kind: str = ""
    do: Callable[[], object] | None = None


Find = Callable[[str], Sequence[Choice]]
"""Returns the choices for a typed text."""


Deeper = Callable[[str], Iterator[tuple[Sequence[Choice], float]]]
"""Yields, in a thread, all choices that are found by now, and how much was searched, up to 1."""


class Results(LineView, can_focus=False):
    """The choices, each in as many lines as it needs."""

    has_cursor = True

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(id="results", glyphs=glyphs)
        self.choices: Sequence[Choice] = ()
        self.empty = ""
        """The text if there is no choice."""
        self._broken: tuple[Sequence[Choice], int] = ((), 0)
        self._rows: list[tuple[int, Line]] = []

    def rows(self) -> list[tuple[int, Line]]:
        """Return the lines of all choices for this width, each with the number of its choice."""
        if self._broken[0] is not self.choices or self._broken[1] != self.size.width:
            self._broken = self.choices, self.size.width
            self._rows = [(number, row) for number, choice in enumerate(self.choices)
                          for row in broken(choice, self.size.width)]  # fmt: skip
        return self._rows

    @property
    def highlighted(self) -> int:
        """The number of the highlighted choice."""
        rows = self.rows()
        return rows[self.cursor][0] if self.cursor < len(rows) else len(self.choices)

    def line_count(self) -> int:
        """Count the lines of the choices, or one line that says there are none."""
        return len(self.rows()) or bool(self.empty)

    def line(self, number: int, columns: int) -> Line:
        """Return a line of a choice."""
        rows = self.rows()
        if number >= len(rows):
            return ((f" {self.empty}", "faint"),) if self.empty else EMPTY
        return rows[number][1]

    def is_under_cursor(self, number: int) -> bool:
        """Return whether a line belongs to the highlighted choice."""
        rows = self.rows()
        return number < len(rows) and rows[number][0] == self.highlighted

    def action_cursor(self, by: int) -> None:
        """Highlight another choice, all of it in sight."""
        wanted = max(0, min(self.highlighted + by, len(self.choices) - 1))
        numbers = [number for number, _ in self.rows()]
        if wanted in numbers:
            self.move_to(numbers.index(wanted) + numbers.count(wanted) - 1)
            self.move_to(numbers.index(wanted))

    @property
    def is_lit(self) -> bool:
        """Show the cursor here although keys go to the field above."""
        return True

    def click_line(self, number: int, column: int) -> None:
        """Take a choice at the first click."""
        self.post_message(LineOpened(self.highlighted))


def broken(choice: Choice, columns: int) -> list[Line]:
    """Return a choice as lines, of which none is cut: the remark follows where it fits."""
    kind = f"{choice.kind:8}" if choice.kind else ""
    key: list[Span] = [(f"{choice.key} ", "key")] if choice.key else []
    indent, room = " " * (len(kind) + 3), max(8, columns - len(kind) - 3 - width(key))
    first, *rest = wrap(foreign(choice.label), room)
    lines: list[list[Span]] = [[(f" {kind}", "faint"), (first, choice.role)]]
    lines += [[(indent, ""), (piece, choice.role)] for piece in rest]
    about = foreign(choice.about)
    if about and width(lines[-1]) + 2 + cell_len(about) + width(key) < columns:
        lines[-1].append((f"  {about}", "faint"))
    elif about:
        lines += [[(indent, ""), (piece, "faint")] for piece in wrap(about, room)]
    return [spread(lines[0], key, columns), *map(tuple, lines[1:])]


class Finder(Dialog[Choice]):
    """A field, and below it the matching choices; enter takes the highlighted one."""

    BINDINGS = bindings(KEYS)

    def __init__(
        self,
        dashboard: AppInterface,
        title: str,
        find: Find,
        *,
        slow: bool = False,
        deeper: Deeper | None = None,
    ) -> None:
        super().__init__(dashboard)
        self.TITLE_HERE = title
        self.find = find
        self.slow = slow
        self.deeper = deeper
        self.results = Results(dashboard.glyphs)
        self._typed = ""
        self._shown: str | None = None
        """The text to which the choices on the screen belong."""
        self._is_entered = False

    def body(self) -> ComposeResult:
        """Yield the field and the choices."""
        with Horizontal(id="field"):
            yield Label(">", id="prompt")
            typed = Field(id="typed", select_on_focus=False)
            typed.cursor_blink = False
            yield typed
        yield self.results

    def on_mount(self) -> None:
        """Show the choices for an empty text, or for what has been typed already."""
        typed = self.query_one(Input)
        typed.focus()
        self.call_after_refresh(lambda: self._ask(typed.value))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Something was typed."""
        self._ask(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the highlighted choice; if none is found yet, the first one that will be."""
        self._is_entered = self._shown != self._typed or not self.results.choices
        if not self._is_entered:
            self._take(self.results.highlighted)

    def on_line_opened(self, message: LineOpened) -> None:
        """Take the choice that was clicked."""
        self._take(message.line)

    def action_pick(self, by: int) -> None:
        """Highlight another choice."""
        self.results.action_cursor(by)

    @property
    def is_leaving(self) -> bool:
        """Whether enter was pressed before the choices for the text are known."""
        return self._is_entered and self._shown != self._typed

    def _ask(self, typed: str) -> None:
        self._is_entered = self._is_entered and typed == self._typed
        self._typed = typed
        if self.slow and typed:
            if not self.results.choices:
                self.results.empty = "searching ..."
                self.results.renew()
            self._search(typed)
        else:
            self._show(typed, self.find(typed))

    @work(thread=True, exclusive=True)
    def _search(self, typed: str) -> None:
        found, worker = self.find(typed), get_current_worker()
        more = self.deeper(typed) if self.deeper else iter(())
        self.dashboard.post_message(ThreadResult(partial(self._show, typed, found)))
        for others, share in more:
            if worker.is_cancelled:
                return
            known = {(choice.kind, choice.label) for choice in found}
            new = [choice for choice in others if (choice.kind, choice.label) not in known]
            show = partial(self._show_more, typed, [*found, *new], share)
            self.dashboard.post_message(ThreadResult(show))

    def _show_more(self, typed: str, found: Sequence[Choice], share: float) -> None:
        """Show what is found by now, and how much was searched; the highlighted choice stays."""
        if self.is_mounted and typed == self._typed:
            self.results.choices = found
            nothing = f"nothing found for `{foreign(typed)}`"
            self.results.empty = nothing if share == 1 else "searching ..."
            left = "" if share == 1 else f"{share:.0%} searched, esc stops"
            for box in self.query("#box"):  # there is none once the screen is closed
                box.border_subtitle = left
            self.results.renew()
            if self._is_entered and found:
                self._take(0)

    def _show(self, typed: str, found: Sequence[Choice]) -> None:
        if self.is_mounted and typed == self._typed:
            self._shown = typed
            nothing = "searching ..." if self.deeper else f"nothing found for `{foreign(typed)}`"
            self.results.empty = nothing if typed else "type a text" if self.slow else "nothing yet"
            self.results.choices = found
            self.results.cursor = 0
            self.results.scroll_to(y=0, animate=False, immediate=True)
            self.results.renew()
            if self._is_entered:
                self._take(0)
                self.dashboard.take_keys(drops_waiting=False)

    def _take(self, number: int) -> None:
        """Take a choice, once: the box stays mounted for a moment, and more may be found then."""
        if number < len(self.results.choices) and self.is_current:
            self.dismiss(self.results.choices[number])


class QuestionBox(Dialog[str]):
    """One question, answered by typing; an answer that `check` refuses leaves it open.

    It says the sentence of the ValueError or D0Error that `check` raises.
    """

    def __init__(
        self,
        dashboard: AppInterface,
        title: str,
        value: str = "",
        check: Callable[[str], object] = str,
    ) -> None:
        super().__init__(dashboard)
        self.TITLE_HERE = title
        self.value = value
        self.check = check
        self.fault = Label("", id="fault", markup=False)

    def body(self) -> ComposeResult:
        """Yield the field, and below it what is wrong with the answer."""
        with Horizontal(id="field"):
            yield Label(">", id="prompt")
            typed = Field(self.value, id="typed")
            typed.cursor_blink = False
            yield typed
        yield self.fault

    def on_input_changed(self, event: Input.Changed) -> None:
        """Another answer may be right."""
        self.fault.display = False

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer, or say why that is no answer."""
        try:
            self.check(event.value)
        except (ValueError, D0Error) as error:
            self.fault.update(foreign(str(error)))
            self.fault.display = True
        else:
            self.dismiss(event.value)
