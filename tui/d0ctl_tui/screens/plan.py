"""The dialog before every deed: what would happen, why it is done, and the command for it."""

from collections.abc import Callable, Sequence
from functools import partial

from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widgets import Input, Label

from d0ctl.actions import VERBS
from d0ctl.errors import D0Error
from d0ctl.show.spans import EMPTY, Line, foreign, wrap
from d0ctl_tui.app_interface import Board
from d0ctl_tui.changes import HINT, read
from d0ctl_tui.commands import Command, bindings
from d0ctl_tui.messages import Handed
from d0ctl_tui.run_action import (
    AnyDeed,
    Deed,
    changed,
    latest,
    next_variant,
    switched,
    takes_changes,
)
from d0ctl_tui.screens.dialog import Dialog
from d0ctl_tui.widgets.status_lines import Band, Page

KEYS = (
    Command("ctrl+o", "outputs", "with or without what it can take along", "act"),
    Command("pagedown", "scroll(10)", "down", "move"),
    Command("pageup", "scroll(-10)", "up", "move"),
)

OTHERWISE = (("tab", "key"), (" with other memory, time or node", "plain"))
"""How to come to the field for other wishes."""

LONGEST = 600
"""How many characters of a command are shown."""

Told = Sequence[tuple[str, str]]
"""Lines with their looks."""


class PlanDialog(Dialog[bool]):
    """Shows the plan of a deed, takes a reason, carries it out, and says what came of it."""

    BINDINGS = bindings(KEYS)

    def __init__(self, board: Board, deed: AnyDeed) -> None:
        super().__init__(board)
        self.deed = deed
        self.TITLE_HERE = deed.title.replace("[", "\\[")
        self.told: Told = (("looking at what it would do ...", "faint"),)
        self.reason = ""
        self.wishes = ""
        self.seen: int | None = None
        self.state = "planning"
        self.page = Page("words", self._draw, board.glyphs)
        self.keys = Band("keys", self._keys, board.glyphs)
        self.set_class(_is_danger(deed), "-danger")

    def body(self) -> ComposeResult:
        """The plan, the reason, the keys."""
        yield self.page
        if takes_changes(self.deed):
            with Horizontal(id="with"):
                yield Label("with", id="with-prompt")
                wishes = Input(id="wishes", placeholder=HINT)
                wishes.cursor_blink = False
                yield wishes
        with Horizontal(id="field"):
            yield Label("reason", id="prompt")
            typed = Input(id="typed", placeholder="kept with who and when; may be empty")
            typed.cursor_blink = False
            yield typed
        yield self.keys

    def on_mount(self) -> None:
        """Make the plan."""
        self.page.can_focus = False
        self.query_one("#typed", Input).focus()
        self._plan()

    def on_input_changed(self, event: Input.Changed) -> None:
        """The command shows the reason as it is typed; other wishes want another plan."""
        if event.input.id == "typed":
            self.reason = event.value
        elif event.value != self.wishes:
            self.wishes = event.value
            if self.state in ("planned", "refused"):
                self.state = "changed"
        self._show()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Plan anew what was changed, else do it; once it is done or refused, close."""
        if self.state == "changed":
            self._change()
        elif self.state == "planned":
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
        if self.state in ("planned", "refused") and next_variant(self.deed):
            self.deed = switched(self.deed)
            self.state = "planning"
            self.keys.renew()
            self._plan()

    def _change(self) -> None:
        """Plan with the wishes that were typed, or say what is wrong with them."""
        try:
            changes = read(self.wishes)
        except D0Error as error:
            hint = ((foreign(error.hint), "faint"),) if error.hint else ()
            self.told = ((foreign(str(error)), "bad"), *hint)
            self._show()
            return
        self.deed = changed(self.deed, changes)
        self.state = "planning"
        self.keys.renew()
        self._plan()

    def action_scroll(self, by: int) -> None:
        """Scroll the plan."""
        self.page.action_cursor(by)

    @work(thread=True, exclusive=True)
    def _plan(self) -> None:
        home, speech, deed = self.board.home, self.board.speech, self.deed
        self.seen = latest(home)
        told, refused = _told(lambda: deed.preview(home, speech), "plain")
        state = "refused" if refused else "planned"
        self.board.post_message(Handed(partial(self._tell, told, state)))

    @work(thread=True, exclusive=True)
    def _act(self) -> None:
        home, speech, reason, seen = self.board.home, self.board.speech, self.reason, self.seen
        told, refused = _told(lambda: self.deed.apply(home, speech, reason, seen), "good")
        state = "refused" if refused else "done"
        self.board.post_message(Handed(partial(self._tell, told, state)))

    def _tell(self, told: Told, state: str) -> None:
        self.told, self.state = told, state
        if self.is_mounted:
            self.query_one("#typed", Input).focus()
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
        return [*self._command(columns), EMPTY, *lines, EMPTY]

    def _command(self, columns: int) -> list[Line]:
        """The command that does the same; of a long one, how it begins."""
        typed = foreign(self.deed.command(self.reason))
        pieces = wrap(f"$ {typed[:LONGEST]}", columns - 2)
        lines: list[Line] = [((piece, "command"),) for piece in pieces]
        if len(typed) > LONGEST:
            rest = typed[LONGEST:].count(" ")
            lines.append(((f"and {rest:,} more words; `history` keeps them all", "faint"),))
        return lines

    def _keys(self, columns: int) -> Line:
        if self.state in ("done", "refused"):
            more = self.state == "refused" and takes_changes(self.deed)
            return (("enter", "key"), (" close   ", "plain"), *(OTHERWISE if more else ()))
        if self.state == "changed":
            return (("enter", "key"), (" plan with it   ", "plain"), ("esc", "key"),
                    (" not", "plain"))  # fmt: skip
        if self.state != "planned":
            return (("esc", "key"), (" close", "plain"))
        spans = [("enter", "key"), (" do it   ", "plain"), ("esc", "key"), (" not   ", "plain")]
        if way := next_variant(self.deed):
            spans += [("^o", "key"), (f" {way[0]}", "plain")]
        if takes_changes(self.deed):
            spans += OTHERWISE
        return tuple(spans)


def _is_danger(deed: AnyDeed) -> bool:
    return isinstance(deed, Deed) and VERBS[deed.request.verb].destroys


def _told(tell: Callable[[], list[str]], look: str) -> tuple[Told, bool]:
    """What a deed tells, or why it is refused; and whether it is."""
    try:
        return [(line, look if not line.startswith(" ") else "plain") for line in tell()], False
    except D0Error as error:
        hint = [(foreign(error.hint), "faint")] if error.hint else []
        return [(foreign(str(error)), "bad"), *hint], True
