"""The final outputs of a job, and where they are."""

from collections.abc import Sequence
from functools import partial

from msgspec import Struct
from textual import work
from textual.app import ComposeResult

from d0ctl.errors import D0Error
from d0ctl.show import outcome
from d0ctl.show.drawing.sheet import Cell, Sheet
from d0ctl.show.drawing.spans import Line, spread
from d0ctl.store.files import selected_files
from d0ctl.store.files.edited_files import done_with_earlier
from d0ctl.store.opening import open_store
from d0ctl.store.sqlite_errors import database_errors
from d0ctl.store.views import browse
from d0ctl.store.views.left_out import outdated_packages, short_packages
from d0ctl_tui.app_events import LineOpened, ThreadResult
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.commands import RESULTS, SUB, bindings
from d0ctl_tui.screens.card import CardScreen
from d0ctl_tui.screens.sub import SubScreen
from d0ctl_tui.widgets.lines import LineView

MOST = 1000
"""How many files are listed."""

LOOKING = "looking ..."
"""Shown until they are read."""


class Result(Struct, frozen=True):
    """A final output: its name, its path on this machine if it is here, and its row."""

    name: str
    path: str | None
    cells: Sequence[Cell]


class Results(LineView):
    """A line for each final output."""

    has_cursor = True

    def __init__(self, dashboard: AppInterface) -> None:
        super().__init__(id="results", glyphs=dashboard.glyphs)
        self.rows: Sequence[Result] = ()
        self.nothing = LOOKING
        self._table: tuple[int, list[Line]] = (0, [])

    def take(self, rows: Sequence[Result]) -> None:
        """Show these."""
        self.rows, self._table = rows, (0, [])

    def line_count(self) -> int:
        """Return how many there are."""
        return len(self.rows)

    def line(self, number: int, columns: int) -> Line:
        """Return the row of one; all have columns of the same width."""
        if self._table[0] != columns:
            sheet = Sheet(columns, self.glyphs)
            sheet.table([row.cells for row in self.rows], give=3, right=[1], indent=1)
            self._table = columns, sheet.lines
        return self._table[1][number]


class ResultsScreen(SubScreen):
    """What `d0ctl results JOB` lists, read in a thread: it looks at the files."""

    BINDINGS = bindings(RESULTS, SUB)
    COMMANDS_HERE = RESULTS

    def __init__(self, dashboard: AppInterface, job: str) -> None:
        super().__init__(dashboard)
        self.job = job
        self.about = ""
        self.view = Results(dashboard)

    def body(self) -> ComposeResult:
        """Yield the list."""
        yield self.view

    def on_mount(self) -> None:
        """Read the list."""
        self.view.focus()
        self._read()

    def headline(self, columns: int) -> Line:
        """Return whose results these are, and how many there are."""
        return spread([(" results of ", "faint"), (self.job, "title")],
                      [(f"{self.about} ", "faint")], columns)  # fmt: skip

    def on_line_opened(self, message: LineOpened) -> None:
        """Show the card of a file."""
        self.action_open()

    def action_open(self) -> None:
        """Show the card of the file under the cursor: its maker, its copies, its origin."""
        if self.view.rows:
            name = self.view.rows[self.view.cursor].name
            self.app.push_screen(CardScreen(self.dashboard, f"{self.job}:{name}"))

    def action_copy(self) -> None:
        """Copy the path of the file under the cursor."""
        row = self.view.rows[self.view.cursor] if self.view.rows else None
        if row is None or row.path is None:
            self.dashboard.show_notice("this file is not on this machine" if row else "no file")
        else:
            self.dashboard.copy(row.path)

    def action_reload(self) -> None:
        """Read the list again."""
        self._read()

    @work(thread=True, exclusive=True)
    def _read(self) -> None:
        home = self.dashboard.home
        try:
            with open_store(home, read_only=True) as store, database_errors(home):
                job = browse.job(store, self.job)
                selected = selected_files.select_results(store, self.job, "*")
                totals = selected_files.weight(selected)
                files = list(selected_files.pages(selected, MOST))
                outdated = outdated_packages(store, job.id).packages
                is_mixed = outdated or done_with_earlier(store, job.id)
                is_short = bool(short_packages(store, job.id, 1))
        except D0Error as error:
            self.dashboard.post_message(ThreadResult(partial(self._take, [], "", str(error))))
            return
        rows = []
        for file in files:
            path = selected_files.local_path(home, file)
            difference = selected_files.difference(home, file)
            cells = outcome.result_cells(file, job, path, difference)
            rows.append(Result(file.name, path, cells))
        about = outcome.results_in_all(totals.files, totals.present, totals.bytes, len(rows))
        about += outcome.imperfect(self.job, short=is_short, outdated=bool(is_mixed))
        nothing = f"job `{self.job}` has no final outputs"
        self.dashboard.post_message(ThreadResult(partial(self._take, rows, about, nothing)))

    def _take(self, rows: Sequence[Result], about: str, nothing: str) -> None:
        if not self.is_mounted:
            return
        self.view.take(rows)
        self.about, self.view.nothing = about, nothing
        self.view.cursor = min(self.view.cursor, max(0, len(rows) - 1))
        self.view.renew()
        self.update()
