"""The dialog before every deed: what would happen, why it is done, and the command for it."""

from collections.abc import Callable, Sequence
from functools import partial

from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, Label

from d0ctl.errors import D0Error
from d0ctl.verbs import VERBS
from d0ctl_tui.acting import OPTIONS, AnyDeed, Deed, latest, switch, switched
from d0ctl_tui.board import Board
from d0ctl_tui.commands import Command, bindings
from d0ctl_tui.draw.spans import EMPTY, Line, foreign, wrap
from d0ctl_tui.messages import Handed
from d0ctl_tui.screens.dialog import Dialog
from d0ctl_tui.widgets.band import Band, Page

KEYS = (
    Command("ctrl+o", "outputs", "with or without what it can take along", "act"),
    Command("pagedown", "scroll(10)", "down", "move"),
    Command("pageup", "scroll(-10)", "up", "move"),
)

Told = Sequence[tuple[str, str]]
"""Lines with their looks."""


class PlanDialog(Dialog[bool]):
    """Shows the plan of each deed, takes a reason, carries them out, tells what came of it."""

    BINDINGS = bindings(KEYS)

    def __init__(self, board: Board, deeds: Sequence[AnyDeed]) -> None:
        super().__init__(board)
        self.deeds = list(deeds)
        self.TITLE_HERE = self._title()
        self.told: Told = (("looking at what it would do ...", "faint"),)
        self.reason = ""
        self.seen: int | None = None
        self.state = "planning"
        self.page = Page("words", self._draw, board.glyphs)
        self.keys = Band("keys", self._keys, board.glyphs)
        self.set_class(any(_is_danger(deed) for deed in deeds), "-danger")

    def body(self) -> ComposeResult:
        """The plan, the reason, the keys."""
        yield self.page
        with Horizontal(id="field"):
            yield Label("reason", id="prompt")
            typed = Input(id="typed", placeholder="kept with who and when; may be empty")
            typed.cursor_blink = False
            yield typed
        yield self.keys

    def on_mount(self) -> None:
        """Make the plan."""
        self.page.can_focus = False
        self.query_one(Input).focus()
        self._plan()

    def on_input_changed(self, event: Input.Changed) -> None:
        """The command shows the reason as it is typed."""
        self.reason = event.value
        self._show()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Do it; once it is done or refused, close."""
        if self.state == "planned":
            self.state = "acting"
            self.told = (("doing it ...", "faint"),)
            self._show()
            self._act()
        elif self.state in ("done", "refused"):
            self.dismiss(self.state == "done")

    def action_close(self) -> None:
        """Close it; what is being done is not stopped by that."""
        self.dismiss(self.state == "done")

    def action_outputs(self) -> None:
        """Do it with or without what the verb can take along: outputs, what runs."""
        if self.state in ("planned", "refused") and any(map(switch, self.deeds)):
            self.deeds = [switched(deed) for deed in self.deeds]
            self.state = "planning"
            self.keys.renew()
            self._plan()

    def action_scroll(self, by: int) -> None:
        """Scroll the plan."""
        self.page.action_cursor(by)

    @work(thread=True, exclusive=True)
    def _plan(self) -> None:
        home, speech = self.board.home, self.board.speech
        self.seen = latest(home)
        told, refused = _each(self.deeds, lambda deed: deed.preview(home, speech), "plain")
        state = "planned" if refused < len(self.deeds) else "refused"
        self.board.post_message(Handed(partial(self._tell, told, state)))

    @work(thread=True, exclusive=True)
    def _act(self) -> None:
        home, speech, reason, seen = self.board.home, self.board.speech, self.reason, self.seen
        told, refused = _each(
            self.deeds, lambda deed: deed.apply(home, speech, reason, seen), "good"
        )
        state = "done" if refused < len(self.deeds) else "refused"
        self.board.post_message(Handed(partial(self._tell, told, state)))

    def _tell(self, told: Told, state: str) -> None:
        self.told, self.state = told, state
        if self.is_mounted:
            self.query_one(Input).disabled = False
            self.query_one(Input).focus()
            self._show()

    def _show(self) -> None:
        self.page.renew()
        self.page.styles.height = min(self.page.line_count(), max(4, self.size.height - 8))
        self.keys.renew()

    def _draw(self, columns: int) -> list[Line]:
        lines: list[Line] = []
        for words, look in self.told:
            indent = len(words) - len(words.lstrip())
            for piece in wrap(words.strip(), max(8, columns - 2 - indent)):
                lines.append(((" " * indent, ""), (piece, look)))
        lines.append(EMPTY)
        lines.append((("the same on the command line", "faint"),))
        for deed in self.deeds[:8]:
            for piece in wrap(f"$ {foreign(deed.command(self.reason))}", columns - 2):
                lines.append(((piece, "command"),))
        if len(self.deeds) > 8:
            lines.append(((f"and {len(self.deeds) - 8} more", "faint"),))
        return [*lines, EMPTY]

    def _keys(self, columns: int) -> Line:
        if self.state in ("done", "refused"):
            return (("enter", "key"), (" close", "plain"))
        if self.state != "planned":
            return (("esc", "key"), (" close", "plain"))
        spans = [("enter", "key"), (" do it   ", "plain"), ("esc", "key"), (" not   ", "plain")]
        deed = self.deeds[0]
        if isinstance(deed, Deed) and (name := switch(deed)):
            word = OPTIONS[name][bool(getattr(deed.request, name))]
            spans += [("^o", "key"), (f" {word}", "plain")]
        return tuple(spans)

    def _title(self) -> str:
        deed = self.deeds[0]
        if isinstance(deed, Deed):
            more = f" and {len(self.deeds) - 1} more" if len(self.deeds) > 1 else ""
            return f"{deed.request.verb} {deed.request.target}{more}".replace("[", "\\[")
        return f"{deed.verb} {deed.name}".replace("[", "\\[")


def _is_danger(deed: AnyDeed) -> bool:
    return isinstance(deed, Deed) and VERBS[deed.request.verb].destroys


def _each(
    deeds: Sequence[AnyDeed], tell: Callable[[AnyDeed], list[str]], look: str
) -> tuple[list[tuple[str, str]], int]:
    """What each deed tells, or why it is refused; and how many are."""
    told: list[tuple[str, str]] = []
    refused = 0
    for deed in deeds:
        try:
            told += [(line, look if not line.startswith(" ") else "plain") for line in tell(deed)]
        except D0Error as error:
            refused += 1
            told.append((foreign(f"{error}"), "bad"))
            if error.hint:
                told.append((foreign(error.hint), "faint"))
    return told, refused
