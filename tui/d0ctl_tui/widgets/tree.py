"""The tree job > stage > line > package > binary, or the flat list of a filter."""

import time
from array import array
from collections.abc import Mapping, Sequence

from textual import events
from textual.widget import Widget

from d0ctl.select import Selector
from d0ctl.show.drawing.signs import Glyphs
from d0ctl.show.drawing.spans import Line
from d0ctl.store.views.activity import RunningProgress
from d0ctl.store.views.shapes import JobSummary, PackageRow
from d0ctl.store.views.shapes.of_package import BinaryView
from d0ctl_tui.app_events import ColumnsMoved, RowChosen, RowOpened
from d0ctl_tui.commands import TREE, bindings
from d0ctl_tui.draw import tree_rows
from d0ctl_tui.draw.columns import Columns, Need
from d0ctl_tui.draw.estimate import Estimates
from d0ctl_tui.draw.row_cells import RowContext
from d0ctl_tui.draw.tree_rows import Row
from d0ctl_tui.read.marks import Marks
from d0ctl_tui.read.outline import Outline, Path, moves
from d0ctl_tui.read.package_pages import NO_PACKAGES, PackagePage, read_page
from d0ctl_tui.read.snapshot import Snapshot
from d0ctl_tui.read.tree_source import PAGE, Source
from d0ctl_tui.terminal import CHOICES
from d0ctl_tui.widgets.folding import Folding

FEWEST_ROWS = 3
"""The least rows of a tree above the details, so that these do not move at each new job."""

HEADING = 1
"""The row with the names of the columns."""

DEPTH = 4
"""A binary has so many ancestors."""

LEAST_ROWS = 8
"""In a tree of fewer rows, ancestors scroll off."""


class Tree(Folding):
    """Rows of the source by line. A filter shows packages only, each by its path."""

    BINDINGS = bindings(TREE)
    has_cursor = True

    def __init__(self, source: Source, glyphs: Glyphs, shown: Sequence[str] = CHOICES) -> None:
        super().__init__(id="tree", glyphs=glyphs)
        self.source = source
        self.outline = Outline()
        self._shown = shown
        self.marks = Marks()
        self.filter_selector: Selector | None = None
        self.filter_name = self.order = ""
        self.filtered: array[int] | None = None
        self.now = time.time()
        self._found: dict[int, PackagePage] = {}
        self._estimates = Estimates(source)
        self._ids: list[int] = []
        self._need = Need()
        self._node_names: Mapping[str, str] = {}

    def line_count(self) -> int:
        """Return how many rows there are, visible or not."""
        return self.outline.height if self.filtered is None else len(self.filtered)

    @property
    def nothing(self) -> str:  # type: ignore[override]
        """What is said instead of rows."""
        if self.filtered is not None:
            return f"no package: {self.filter_name}"
        return f"no job {summary}" if (summary := self.source.job_list.summary) else "no jobs"

    @property
    def columns(self) -> Columns:
        """How the rows share the width; columns only grow, so that nothing jumps."""
        order = self.source.job_list.order if self.filtered is None else self.order
        return Columns.of(self.size.width, self._need, self._shown, order)

    def line(self, number: int, columns: int) -> Line:
        """Return a row."""
        row, context = self._row_context(number)
        return tree_rows.draw(row, self.columns, context)

    def _row_context(self, number: int) -> tuple[Row | None, RowContext]:
        if self.filtered is not None:
            package, page = self.package_at(number), self._package_page(number)
            reason = page.blocked.get(package.id) if package else None
            context = RowContext(0, self.glyphs, self.now, False, self._is_marked(number), True,
                                 blocked=reason is not None, waits_for=reason or "",
                                 late=self.source.stragglers.below(package),
                                 nodes=self._node_names)  # fmt: skip
            return package, context
        row = self.source.row(path := self.outline.locate(number))
        context = RowContext(
            len(path) - 1, self.glyphs, self.now, self.outline.is_open(path),
            bool(self.marks) and self._is_marked_at(path),
            blocked=self.source.is_blocked(path), late=self.source.stragglers.below(row),
            estimate=self._estimates.of(path) if len(path) <= 2 else None,
            least=self._estimates.least(path) if len(path) == 1 else None,
            progress=self.source.progress(path) if len(path) <= 3 else RunningProgress(),
            job_hold=self.source.job_hold(path), followed=self.source.is_followed(path),
            nodes=self._node_names,
        )  # fmt: skip
        return row, context

    def renew(self) -> None:
        """Draw all visible rows again, and fit the columns."""
        if self.is_mounted:
            self._measure_columns()
            self._leave_rows()
        super().renew()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Fit the columns to other rows."""
        self._measure_columns()
        super().watch_scroll_y(old_value, new_value)

    @property
    def most_pinned(self) -> int:
        """How many rows ancestors may take: none in a low tree, or if nothing is expanded."""
        is_flat = self.filtered is not None or not self.outline.root.open
        return 0 if is_flat or self.size.height < LEAST_ROWS else min(DEPTH, self.size.height // 4)

    def pinned(self, top: int) -> Sequence[int]:
        """Return the lines of ancestors that have scrolled off."""
        most = self.most_pinned
        return self.outline.pinned(top, most) if most else ()

    def _measure_columns(self) -> None:
        need, count = self._need, self.line_count()
        for number in map(self.line_at, range(self.size.height)):
            if number < count:  # else it is still scrolled to rows that no longer exist
                need |= tree_rows.need(*self._row_context(number))
        if need != self._need:
            self._need = need
            self.post_message(ColumnsMoved())

    def _leave_rows(self) -> None:
        """On a narrow screen, leave the rows that it does not need to the details below it."""
        if not isinstance(self.parent, Widget):
            return  # the dashboard is ending
        if (styles := self.parent.styles) and self.screen.has_class("-narrow"):
            styles.max_height = max(FEWEST_ROWS, self.line_count()) + HEADING
        elif styles.max_height is not None:  # to take none away would draw the whole screen
            styles.max_height = None

    def on_resize(self, event: events.Resize) -> None:
        """Fit the columns to another size."""
        self._need = Need()
        super().on_resize(event)
        self.renew()

    def refresh_rows(self, now: float, snapshot: Snapshot) -> None:
        """Read everything again: the list of jobs may have changed."""
        self.now = now
        self._node_names = snapshot.short_names
        cursor_path = self.cursor_path if self.filtered is None else None
        self._found.clear()
        self._estimates.forget(now)
        ids = list(self.source.jobs)
        if ids != self._ids:
            self.outline.reorder(len(ids), moved := moves(self._ids, ids))
            self._ids = ids
            self.has_left = cursor_path is not None and cursor_path[0] not in moved
            if cursor_path and not self.has_left:
                cursor_path = (moved[cursor_path[0]], *cursor_path[1:])
        self.source.fit(self.outline)
        if cursor_path and not self.has_left:
            self.follow_row(cursor_path)
        self.renew()

    @property
    def cursor_path(self) -> Path | None:
        """The path of the row under the cursor; None in a filter and in an empty tree."""
        if self.filtered is not None or not self.outline.height:
            return None
        return self.outline.locate(min(self.cursor, self.outline.height - 1))

    @property
    def chosen_row(self) -> Row | None:
        """Return the row under the cursor."""
        if self.filtered is not None:
            return self.package_at(self.cursor) if len(self.filtered) else None
        return self.source.row(self.cursor_path) if self.cursor_path else None

    @property
    def chosen_job(self) -> JobSummary | None:
        """Return the job of the selected row."""
        row = self.source.row(self.cursor_path[:1]) if self.cursor_path else None
        return row if isinstance(row, JobSummary) else None

    @property
    def selector(self) -> str | None:
        """Return the path of the row under the cursor, as it is typed."""
        if self.filtered is not None:
            package = self.package_at(self.cursor) if len(self.filtered) else None
            return package.path if package else None
        return self.source.selector(self.cursor_path) if self.cursor_path else None

    def package_at(self, number: int) -> PackageRow | None:
        """Return a package of the filter."""
        if self.filtered is None or number >= len(self.filtered):
            return None
        return self._package_page(number).rows.get(self.filtered[number])

    def _package_page(self, number: int) -> PackagePage:
        page = number // PAGE
        if page not in self._found:
            ids = (self.filtered or ())[page * PAGE : (page + 1) * PAGE]
            self._found[page] = self.source.ask(lambda store: read_page(store, ids), NO_PACKAGES)
        return self._found[page]

    def reveal(self, path: Path) -> None:
        """Expand all parents of a row, and go to it."""
        if self.filtered is not None:
            self.filtered, self._need = None, Need()
        for depth in range(1, len(path)):
            if not self.outline.is_open(path[:depth]):
                self.outline.expand(path[:depth], self.source.size(path[:depth]))
        self._drawn.clear()
        self.move_to(self.outline.line_of(path))
        self.refresh()
        self.post_message(RowChosen(path))

    def show_only(
        self,
        ids: "array[int] | None",
        selector: Selector | None = None,
        name: str = "",
        order: str = "",
    ) -> None:
        """Show these packages in an order, all of a selector if there is one; or the whole tree."""
        self.filtered, self.filter_selector = ids, selector
        self.filter_name, self.order = name, order
        self._found.clear()
        self._need = Need()
        self.cursor = 0
        self.scroll_to(y=0, animate=False, immediate=True)
        self.renew()

    def action_fold_all(self) -> None:
        """Collapse everything."""
        path = self.cursor_path
        self.outline.collapse_all()
        self._need = Need()  # the columns of packages would stay, but be empty
        self.move_to(path[0] if path else 0)
        self.renew()

    def open_line(self, number: int, column: int | None = None) -> None:
        """Expand or collapse; for a package show all about it."""
        self.move_to(number)
        path = self.cursor_path
        if path is None or isinstance(self.chosen_row, PackageRow | BinaryView):
            self.post_message(RowOpened(path or ()))
        elif self.outline.is_open(path):
            self.action_fold()
        else:
            self.action_unfold()

    def on_mouse_down(self, _: events.MouseDown) -> None:
        """Take the focus."""
        self.focus()
