"""The log of a package: followed as it grows, searched, paged through at any size."""

import threading
from concurrent.futures import Future, ThreadPoolExecutor

from textual.app import ComposeResult
from textual.timer import Timer

from d0ctl.errors import BadUsage, D0Error
from d0ctl.show.drawing.spans import Line, spread
from d0ctl.store.views.finding.wide_search import EXPRESSION
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.commands import LOG, SUB, bindings
from d0ctl_tui.draw import log_search
from d0ctl_tui.draw.pager import Pager
from d0ctl_tui.read import logs
from d0ctl_tui.read.logs import Log
from d0ctl_tui.screens import log_pane
from d0ctl_tui.screens.dialogs.search_box import QuestionBox
from d0ctl_tui.screens.files import saved_log
from d0ctl_tui.screens.log_pane import LogPane, Move, WindowRead, stay, to_end
from d0ctl_tui.screens.sub import SubScreen

NEAR_S = 0.5
FAR_S = 3.0
"""How often a log on this machine, or on another, is read while it is followed."""


class LogScreen(SubScreen):
    """One stream of one binary of one attempt at a package."""

    BINDINGS = bindings(LOG, SUB)
    COMMANDS_HERE = LOG

    def __init__(self, dashboard: AppInterface, log: Log) -> None:
        super().__init__(dashboard)
        self.log_file = log
        self.binary_number, self.stream_name = log.likely
        self.following = True
        self.pane = LogPane(dashboard)
        self.pane.move = self._move
        self._pager = Pager(self._read)
        self._reader = ThreadPoolExecutor(1, "log")
        self._cancel = threading.Event()
        self._length = 0
        self._timer: Timer | None = None
        self._choice: Future[bool] = Future()  # done once a stream is chosen, or can't be
        self._typed_ahead: list[Move] = []
        """Moves by keys that were typed before the log was read for the first time."""
        self._searched_text = ""
        self._row = 0
        self._error = ""
        self._to_match = False

    def body(self) -> ComposeResult:
        """Yield the window."""
        yield self.pane

    def on_mount(self) -> None:
        """Begin at the end of the latest output."""
        self.pane.focus()
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self._reader.submit(self._choose, self.log_file, self._choice)
        again = NEAR_S if self.log_file.is_near else FAR_S
        self._timer = self.set_interval(max(again, self.dashboard.interval), self._read_to_end)
        for move in self._typed_ahead:
            self._submit(move)

    def on_unmount(self) -> None:
        """End the reading thread."""
        self._cancel.set()
        self._reader.submit(self.log_file.close)
        self._reader.shutdown(wait=False)

    def headline(self, columns: int) -> Line:
        """Return which log this is, and the position in it."""
        left = log_pane.title(self.log_file, self.binary_number, self.stream_name)
        if self._error:
            return spread(left, [("unreadable ", "bad")], columns)
        state = "following" if self.following else "not following"
        right = self.pane.position(self._length, state if self.log_file.is_live else "ended")
        return spread(left, right, columns)

    def on_window_read(self, news: WindowRead) -> None:
        """Show the new contents."""
        self._length, self._row, self._error = news.size, news.row, news.error
        self.pane.shown = news.lines
        self.pane.notice = log_pane.remark(news, self.dashboard.key_of("reload"))
        if self._to_match:
            self._to_match = False
            self.pane.show_match()
        self.pane.lay_out(self._row)
        if news.notice:
            self.dashboard.show_notice(news.notice)
        self.update()

    def on_resize(self) -> None:
        """Show more or fewer lines after a change of the height."""
        if self._timer is not None and not self._error:
            self._submit(to_end if self.following else stay)

    def action_wrap(self) -> None:
        """Break long lines, or cut them."""
        self.pane.is_wrapped, self.pane.left = not self.pane.is_wrapped, 0
        self._submit(to_end if self.following else stay)

    def action_sideways(self, by: int) -> None:
        """Show the text further right or left in long lines."""
        if not self.pane.is_wrapped:
            self.pane.left = max(0, self.pane.left + by * max(1, self.pane.size.width // 2))
            self.pane.lay_out(self._row)

    def action_reload(self) -> None:
        """Read the log again, over a new connection."""
        self._reader.submit(self.log_file.close)
        self.pane.notice = [("reading ...", "faint")]
        self.pane.shown, self._error = [], ""
        self.pane.lay_out(0)
        if self._choice.done() and not self._choice.result():
            self._begin_choice()
        else:
            self._pager = Pager(self._read)
            self._submit(to_end)

    def action_follow(self) -> None:
        """Go to the end and stay there, or stay here."""
        self.following = not self.following
        self._read_to_end()
        self.update()

    def action_find(self) -> None:
        """Ask what to search for."""

        def go(text: str | None) -> None:
            if not text:
                return
            try:
                log_search.parse(text)
            except BadUsage as error:
                self.dashboard.show_notice(str(error))
                return
            self._searched_text = self.pane.found = text
            self._go_to_match(forward=True, here=True)

        title = f"search; {EXPRESSION} begins a regular expression"
        self.app.push_screen(QuestionBox(self.dashboard, title, self._searched_text), go)

    def action_again(self, by: int) -> None:
        """Go to the next match, or to the one before."""
        if not self._searched_text:
            self.action_find()
            return
        self._go_to_match(forward=by > 0)

    def _go_to_match(self, *, forward: bool, here: bool = False) -> None:
        self.following = False
        self._cancel.set()
        self._reader.submit(self._search, self._searched_text, forward, here)

    def action_stream(self) -> None:
        """Show the other stream, once it is known which is shown first."""
        self._choice.add_done_callback(lambda _: self.call_later(self._show_other_stream))

    def _show_other_stream(self) -> None:
        self.stream_name = "err" if self.stream_name == "out" else "out"
        self._turn()

    def action_binary(self) -> None:
        """Show the next binary of the chain."""
        if self.log_file.binaries == 1:
            self.dashboard.show_notice("this package has one binary")
            return
        self.binary_number = self.binary_number % self.log_file.binaries + 1
        self._turn()

    def action_read_with(self, program: str) -> None:
        """Give this stream to the pager or the editor of the user."""
        self.dashboard.read_log(self.log_file.again(), self._stream, program)

    def action_save(self) -> None:
        """Ask for a file on this machine, and write to it the stream that is shown then."""
        self._choice.add_done_callback(lambda _: self.call_later(self._ask_to_save))

    def _ask_to_save(self) -> None:
        saved_log.ask(self.dashboard, self.log_file, self._stream)

    def action_copy(self) -> None:
        """Copy the path of this stream on its node."""
        self.dashboard.copy(f"{self.log_file.folder}/{self._stream}")

    def action_attempt(self) -> None:
        """Show the previous attempt; after the first, the last again."""
        log = self.log_file
        if len(log.attempts) == 1:
            self.dashboard.show_notice("this package has had one attempt")
            return
        earlier = [number for number in log.attempts if number < log.number]
        wanted = earlier[-1] if earlier else log.attempts[-1]
        found = self.dashboard.source.ask(lambda store: logs.find(store, log.path, wanted), log)
        self._reader.submit(log.close)
        self.log_file, self._error = found, ""
        self.binary_number, self.stream_name = found.likely
        self._begin_choice()

    def _turn(self) -> None:
        self._pager, self.following = Pager(self._read), True
        self._submit(to_end)

    def _begin_choice(self) -> None:
        """Choose what to show of another attempt, or of one that could not be read."""
        self._pager, self.following, self._choice = Pager(self._read), True, Future()
        self._count_rows()
        self._reader.submit(self._choose, self.log_file, self._choice)

    def _read_to_end(self) -> None:
        if self.following and not self._error and self._choice.done():
            self._submit(to_end, grown=True)

    def _move(self, move: Move) -> None:
        """Move the window; a window that a person has moved no longer follows the log."""
        self.following = False
        if self._timer is None:
            self._typed_ahead.append(move)
        else:
            self._submit(move)

    def _submit(self, move: Move, *, grown: bool = False) -> None:
        self._count_rows()
        self._reader.submit(self._do, move, self.pane.size.height or 1, grown)

    def _count_rows(self) -> None:
        pane, columns, wrapped = self.pane, self.pane.size.width, self.pane.is_wrapped
        self._pager.rows = lambda text: len(pane.rows_of(text, columns)) if wrapped else 1

    @property
    def _stream(self) -> str:
        return f"{self.binary_number}.{self.stream_name}"

    def _read(self, offset: int, length: int) -> bytes:
        return self.log_file.read(self._stream, offset, length)

    def _do(self, move: Move, height: int, grown: bool) -> None:
        """In the reading thread: move the window and return its contents."""
        try:
            now = self.log_file.size(self._stream)
            if grown and now == self._pager.size and self.pane.shown:
                return
            if now != self._pager.size:
                self._pager.size = now
                self._pager.forget()
            self._pager.row = min(self._pager.row, self._pager.rows_at_top() - 1)
            move(self._pager, height)
            self._show_new(height)
        except (D0Error, OSError) as error:
            self._show_error(error)

    def _show_error(self, error: Exception) -> None:
        """In the reading thread: report that it can't be read; the next try connects again."""
        self.log_file.close()
        known = log_pane.last_errors(self.log_file, self.binary_number, self.stream_name)
        self.post_message(WindowRead(known, 0, 0, error=str(error)))

    def _choose(self, log: Log, choice: Future[bool]) -> None:
        """In the reading thread: choose the last binary that has printed anything."""
        is_chosen = False
        try:
            if log is self.log_file and (latest := log.latest()):
                self.binary_number, self.stream_name = latest
            is_chosen = True
        except (D0Error, OSError) as error:
            self._show_error(error)
            return
        finally:
            choice.set_result(is_chosen)
        self._do(to_end, self.pane.size.height or 1, False)

    def _search(self, text: str, forward: bool, here: bool) -> None:
        """In the reading thread: go to a match, if need be around the end of the log."""
        self._cancel.clear()
        stopped = self._cancel.is_set
        try:
            found = self._pager.find(text, forward=forward, cancelled=stopped, here=here)
            notice = ""
            if not found and not stopped():
                found = self._pager.find_around(text, forward=forward, cancelled=stopped)
                start = "beginning" if forward else "end"
                notice = f"searched on from the {start}" if found else f"no match for `{text}`"
            self._to_match = found
            self._show_new(self.pane.size.height or 1, notice)
        except BadUsage as error:
            self._show_new(self.pane.size.height or 1, str(error))
        except (D0Error, OSError) as error:
            self._show_error(error)

    def _show_new(self, height: int, notice: str = "") -> None:
        lines = self._pager.window(height)
        self.post_message(WindowRead(lines, self._pager.row, self._pager.size, notice))
