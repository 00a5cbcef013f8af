"""The pane beside the tree: all about the selected row, read when the cursor rests."""

import time
from collections.abc import Callable
from functools import partial

from textual import work
from textual.timer import Timer

from d0ctl.errors import D0Error
from d0ctl.show.card_contents import About, NotFoundCard
from d0ctl.show.cards import package, part
from d0ctl.show.cards.file_lists import WHOLE, Limits
from d0ctl.show.cards.package import Package
from d0ctl.show.cards.part import Part
from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.drawing.signs import Glyphs, is_live
from d0ctl.show.drawing.spans import Line
from d0ctl.show.history import past_cards
from d0ctl.show.tasks import task_part
from d0ctl.show.tasks.task_part import TaskPart, about
from d0ctl.store.connection import Store
from d0ctl.store.opening import open_store
from d0ctl.store.sqlite_errors import database_errors
from d0ctl_tui.app_events import ReadFailed, ThreadResult
from d0ctl_tui.draw import log_text
from d0ctl_tui.read import logs
from d0ctl_tui.read.tree_source import Source
from d0ctl_tui.widgets.status_lines import Page

REST_S = 0.03
"""How long the cursor rests before its row is read, so that keys come first."""

TAIL_BYTES = 4096
TAIL_AGAIN_S = 2.0
"""How often the end of a log that may grow is read."""

AGAIN_S = 0.4
"""How often data that changes all the time is read again."""


class AboutPane(Page):
    """The card of a job, stage, line or package."""

    def __init__(
        self, source: Source, glyphs: Glyphs, interval: float, key_of: Callable[[str], str]
    ) -> None:
        super().__init__("about", self._sheet, glyphs)
        self.source = source
        self.interval = interval
        self.key_of = key_of
        self.selector: str | None = None
        self.card: About | TaskPart | None = None
        self.tail: str | None = None
        self.whole = False
        self._timer: Timer | None = None
        self._read_at = 0.0
        self._tail_timer: Timer | None = None
        self.tail_pane = TailPane(self._log, glyphs)

    def renew(self) -> None:
        """Draw again, and the end of the log."""
        super().renew()
        self.tail_pane.set_class(not isinstance(self.card, Package), "-idle")
        self.tail_pane.renew()

    def _log(self) -> str | None:
        return self.tail if isinstance(self.card, Package) else None

    @property
    def is_unread(self) -> bool:
        """Whether the first card is not read yet."""
        return self.selector is not None and not self._read_at

    def show(self, selector: str | None, *, soon: bool = False) -> None:
        """Show this card; a card that is already shown is read again after an interval."""
        if selector != self.selector:
            self.selector, self.tail = selector, None
            self._stop_following()
            self.scroll_to(y=0, animate=False, immediate=True)
            self._in(REST_S)
        elif soon and self._timer is None:
            again = max(AGAIN_S, self.interval)
            self._in(max(REST_S, again - (time.monotonic() - self._read_at)))

    def _stop_following(self) -> None:
        if self._tail_timer is not None:
            self._tail_timer.stop()

    def _in(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(seconds, self._read)

    def _read(self) -> None:
        self._timer = None
        self._read_at = time.monotonic()
        selector = self.selector
        if selector is None:
            self.card = None
        else:
            now = time.time()
            read: Callable[[Store, str], About | TaskPart]
            at = self.source.at
            if at is not None:
                self.tail = None  # the log of the present may be of a later attempt
            read = partial(about, now=now) if at is None else partial(past_cards.about, at=at)
            could_be_read = self.source.error is None
            self.card = self.source.ask(lambda store: read(store, selector), self.card)
            if could_be_read and self.source.error is not None:
                self.post_message(ReadFailed(self.source.error))
        self.renew()
        is_present = self.source.at is None
        if isinstance(self.card, Package) and self.card.attempts and self.display and is_present:
            self._read_tail(self.card.view.path)

    @work(thread=True, exclusive=True, group="tail")
    def _read_tail(self, selector: str) -> None:
        """Read the end of the package's output, in a thread of its own."""
        try:
            with open_store(self.source.home, read_only=True) as store, database_errors(store.home):
                log = logs.find(store, selector)
            try:
                tail = log.tail(TAIL_BYTES)
            finally:
                log.close()
        except D0Error as error:
            tail = f"[{error}]"
        self.app.post_message(ThreadResult(partial(self._take_tail, selector, tail)))

    def _take_tail(self, selector: str, tail: str) -> None:
        if selector == self.selector and self.is_mounted and self.source.at is None:
            if tail != self.tail:
                self.tail = tail
                self.renew()
            if isinstance(self.card, Package) and is_live(self.card.view.phase):
                self._tail_timer = self.set_timer(max(TAIL_AGAIN_S, self.interval), self._follow)

    def _follow(self) -> None:
        if self.selector is not None and isinstance(self.card, Package):
            self._read()

    @property
    def _is_empty(self) -> bool:
        """Whether there is no job at all, hidden or not."""
        return not self.source.jobs and not self.source.job_list.hides and self.source.at is None

    def _sheet(self, columns: int) -> list[Line]:
        sheet = Sheet(columns - 1, self.glyphs, archive=self.source.home.archive)
        now = self.source.at or time.time()
        match self.card:
            case Package() as card:
                more = f"{self.key_of('open-row')} shows them"
                limits = WHOLE if self.whole else Limits(more=more)
                log = None if self.tail_pane.display else self.tail
                package.draw(sheet, card, now, log=log, log_key=self.key_of("log"), limits=limits)
            case Part() as card:
                part.draw(sheet, card, now)
            case TaskPart() as card:
                task_part.draw(sheet, card, now)
            case NotFoundCard() as gone:
                sheet.say(gone.message, "faint")
            case None if self._is_empty:
                _draw_first_steps(sheet)
        return sheet.lines


def _draw_first_steps(sheet: Sheet) -> None:
    """Say what to do if nothing exists yet."""
    sheet.head("no jobs")
    sheet.say("write a job file to begin with, or submit one of your own:")
    sheet.commands(["d0ctl init merge", "d0ctl submit FILE",
                    "d0ctl daemon start   # if none is running"])  # fmt: skip


class TailPane(Page):
    """As many of the last lines as fit."""

    def __init__(self, read: Callable[[], str | None], glyphs: Glyphs) -> None:
        super().__init__("tail", self._lines, glyphs)
        self._read = read

    def _lines(self, columns: int) -> list[Line]:
        said = self._read()
        if said is None:
            return []
        last = said.splitlines()[-max(1, self.size.height) :]
        cut = [log_text.shifted(log_text.spans(line), 0, columns, self.glyphs.ellipsis)
               for line in last]  # fmt: skip
        return cut or [(("nothing was printed", "faint"),)]
