"""The files in the folder of an attempt on its node, and the ends of those that are text."""

import time
from functools import partial

from msgspec import Struct
from textual import work
from textual.app import ComposeResult

from d0ctl.errors import D0Error
from d0ctl.nodes.visits import peek
from d0ctl.nodes.visits.peek import AttemptLocation
from d0ctl.show.drawing.spans import Line, Span, fit, foreign, pad, spread
from d0ctl.units import count, moment, size
from d0ctl_tui.app_events import LineOpened, ThreadResult
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.commands import PEEK, SUB, bindings
from d0ctl_tui.read.logs import Log
from d0ctl_tui.screens.sub import SubScreen
from d0ctl_tui.widgets.lines import LineView

END = 64 * 1024
"""How many bytes at the end of a file are shown."""

WIDEST = 60


class Entry(Struct, frozen=True):
    """A file or folder."""

    name: str
    is_folder: bool
    size: int
    time: float
    target: str | None


class Folder(Struct, frozen=True):
    """What was read: entries of a folder, or the last lines of a file; or why it can't be read."""

    path: str = ""
    entries: tuple[Entry, ...] = ()
    lines: tuple[str, ...] | None = None
    size: int = 0
    more: bool = False
    problem: str = ""


LOOKING = "looking ..."
"""Shown until the first folder is read."""


class Entries(LineView):
    """The entries or lines."""

    has_cursor = True

    def __init__(self, dashboard: AppInterface) -> None:
        super().__init__(id="entries", glyphs=dashboard.glyphs)
        self.folder = Folder()
        self.nothing = LOOKING

    def line_count(self) -> int:
        """Return how many there are."""
        return len(self.folder.entries if self.folder.lines is None else self.folder.lines)

    def line(self, number: int, columns: int) -> Line:
        """Return an entry, or a line of a file."""
        if self.folder.lines is not None:
            text = foreign(self.folder.lines[number])
            return fit(((f" {text}", "plain"),), columns, ellipsis=self.glyphs.ellipsis)
        entry = self.folder.entries[number]
        name = min(WIDEST, max(len(each.name) for each in self.folder.entries) + 1)
        name_text = f"{foreign(entry.name)}{'/' if entry.is_folder else ''}"
        spans: list[Span] = [
            (f" {pad(name_text, name, ellipsis=self.glyphs.ellipsis)}", "strong"),
            (f" {pad('' if entry.is_folder else size(entry.size), 9, right=True)}", "plain"),
            (f"  {moment(entry.time, time.time())}", "faint"),
            (f"  -> {foreign(entry.target)}" if entry.target else "", "faint"),
        ]
        return fit(spans, columns, ellipsis=self.glyphs.ellipsis)


class PeekScreen(SubScreen):
    """The folder of an attempt, read in a thread, one folder or file at a time."""

    BINDINGS = bindings(PEEK, SUB)
    COMMANDS_HERE = PEEK

    def __init__(self, dashboard: AppInterface, log: Log) -> None:
        super().__init__(dashboard)
        self.log_here = log
        self.where = AttemptLocation(log.home, log.site, log.address, log.base or None, log.attempt)
        self.view = Entries(dashboard)

    def body(self) -> ComposeResult:
        """Yield the entries."""
        yield self.view

    def on_mount(self) -> None:
        """Read the folder of the attempt."""
        self.view.focus()
        self._read("", is_file=False)

    def headline(self, columns: int) -> Line:
        """Return whose folder it is, and where in it."""
        log, folder = self.log_here, self.view.folder
        left: list[Span] = [
            (f" {log.path}", "title"),
            (f"  attempt {log.number} on {foreign(log.address.name)}  ", "faint"),
            (foreign(f"/{folder.path}"), "strong"),
        ]
        if self.view.nothing == LOOKING:
            return spread(left, [(f"{LOOKING} ", "faint")], columns)
        if folder.problem:
            return spread(left, [("unreadable ", "bad")], columns)
        about = count(len(folder.entries), "entry", "entries") + (" and more" * folder.more)
        if folder.lines is not None:
            about = size(folder.size)
            about = f"the last {size(END)} of {about}" if folder.size > END else about
        return spread(left, [(f"{about} ", "faint")], columns)

    def on_line_opened(self, message: LineOpened) -> None:
        """Open a folder or a file."""
        self.action_open()

    def action_open(self) -> None:
        """Show the folder or file under the cursor."""
        folder = self.view.folder
        if folder.lines is None and folder.entries:
            entry = folder.entries[self.view.cursor]
            self._read(f"{folder.path}/{entry.name}".lstrip("/"), is_file=not entry.is_folder)

    def action_up(self) -> None:
        """Go to the folder above."""
        path = self.view.folder.path
        if path:
            self._read(path.rpartition("/")[0], is_file=False)
        else:
            self.app.pop_screen()

    def action_reload(self) -> None:
        """Read it again."""
        folder = self.view.folder
        self._read(folder.path, is_file=folder.lines is not None)

    @work(thread=True, exclusive=True)
    def _read(self, path: str, *, is_file: bool) -> None:
        try:
            found = _file(self.where, path) if is_file else _listing(self.where, path)
        except D0Error as error:
            found = Folder(path, problem=str(error))
        self.dashboard.post_message(ThreadResult(partial(self._take, found)))

    def _take(self, found: Folder) -> None:
        if not self.is_mounted:
            return
        left = self.view.folder
        empty = "the folder is empty" if found.lines is None else "the file is empty"
        self.view.folder, self.view.nothing = found, found.problem or empty
        names = [entry.name for entry in found.entries]
        came_from = left.path.rpartition("/")[2]
        is_above = left.path.rpartition("/")[0] == found.path and left.path
        self.view.cursor = names.index(came_from) if is_above and came_from in names else 0
        if found.lines:
            self.view.cursor = len(found.lines) - 1
        self.view.renew()
        self.view.move_to(self.view.cursor)
        self.update()


def _listing(where: AttemptLocation, path: str) -> Folder:
    """Return a folder, or why it can't be read. Raises NodeUnreachable."""
    with peek.visit(where) as here:
        frame = here.listing(path)
    entries = tuple(
        Entry(
            entry["name"], entry["type"] == "folder", entry["size"], entry["time"], entry["target"]
        )
        for entry in frame["entries"]
    )
    problem = f"this folder can't be read: {frame['message']}" if frame["message"] else ""
    return Folder(path, entries, more=bool(frame["more"]), problem=problem)


def _file(where: AttemptLocation, path: str) -> Folder:
    """Return the end of a file. Raises NodeUnreachable and NotFound."""
    with peek.visit(where) as here:
        piece = here.read(path, -END, END)
    if b"\0" in piece.data:
        return Folder(path, lines=(f"not text: {size(piece.size)}",), size=piece.size)
    text = piece.data.partition(b"\n")[2] if piece.offset else piece.data
    return Folder(path, lines=tuple(text.decode(errors="replace").splitlines()), size=piece.size)
