"""The card of a file or binary on a screen of its own."""

import time

from textual.app import ComposeResult

from d0ctl.show.card_contents import NotFoundCard, about_binary, about_file
from d0ctl.show.cards import binary, file
from d0ctl.show.cards.binary import Binary
from d0ctl.show.cards.file import File
from d0ctl.show.cards.file_lists import WHOLE
from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.drawing.spans import Line
from d0ctl.store.connection import Store
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.commands import CARD, SUB, bindings
from d0ctl_tui.screens.sub import SubScreen
from d0ctl_tui.widgets.status_lines import Page


class CardScreen(SubScreen):
    """The card of `JOB:FILE`, or of a binary by its path."""

    BINDINGS = bindings(CARD, SUB)
    COMMANDS_HERE = CARD

    def __init__(self, dashboard: AppInterface, subject: str) -> None:
        super().__init__(dashboard)
        self.subject = subject
        self.page = Page("card", self._sheet, dashboard.glyphs)
        self.card: File | Binary | NotFoundCard | None = None

    def body(self) -> ComposeResult:
        """Yield the card."""
        yield self.page

    def on_mount(self) -> None:
        """Read the card."""
        self.page.focus()
        self.call_after_refresh(self.update)

    def headline(self, columns: int) -> Line:
        """Return the title."""
        kind = "file" if ":" in self.subject else "binary"
        return ((f" {kind}", "title"), (f"  {self.subject}", "faint"))

    def update(self) -> None:
        """Read the card again."""
        super().update()
        now = time.time()
        self.card = self.dashboard.source.ask(lambda store: self._read(store, now), self.card)
        self.page.renew()

    def _read(self, store: Store, now: float) -> File | Binary | NotFoundCard:
        job, colon, name = self.subject.partition(":")
        return (
            about_file(store, job, name, now) if colon else about_binary(store, self.subject, now)
        )

    def action_go(self) -> None:
        """Go to the package that makes the file or runs the binary."""
        package = None
        if isinstance(self.card, File):
            package = self.card.maker
        elif isinstance(self.card, Binary):
            package = self.card.package.path
        if package is None:
            self.dashboard.show_notice("no package makes this file")
            return
        self.app.pop_screen()
        self.dashboard.go_to(package)

    def _sheet(self, columns: int) -> list[Line]:
        sheet = Sheet(columns - 1, self.dashboard.glyphs, archive=self.dashboard.home.archive)
        match self.card:
            case File() as card:
                file.draw(sheet, card)
            case Binary() as card:
                binary.draw(sheet, card, time.time(), WHOLE)
            case NotFoundCard() as gone:
                sheet.say(gone.message, "faint")
        return sheet.lines
