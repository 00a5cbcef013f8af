"""The list of groups of failures, each of which opens to its packages."""

import time

from d0ctl.show.drawing.spans import Line
from d0ctl.store.views import outline
from d0ctl.store.views.shapes import PackageRow
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.draw import failure_groups, tree_rows
from d0ctl_tui.draw.columns import Columns
from d0ctl_tui.draw.failure_groups import FailedPackages, GroupColumns
from d0ctl_tui.draw.row_cells import RowContext
from d0ctl_tui.read.outline import Outline, Path
from d0ctl_tui.read.tree_source import PAGE
from d0ctl_tui.widgets.lines import LineView


class GroupList(LineView):
    """The groups, and the packages of open ones."""

    has_cursor = True

    def __init__(self, dashboard: AppInterface) -> None:
        super().__init__(id="groups", glyphs=dashboard.glyphs)
        self.dashboard = dashboard
        self.outline = Outline()
        self.groups: list[FailedPackages] = []
        self.by = ""
        self._rows: dict[tuple[int, int], dict[int, PackageRow]] = {}
        self._columns: dict[int, GroupColumns] = {}

    def show(self, groups: list[FailedPackages], by: str) -> None:
        """Show these groups; those of the same property stay open, and the cursor on its group."""
        if by != self.by:
            self.outline.collapse_all()
            self.cursor = 0
        before = self.outline.locate(self.cursor) if self.line_count() else ()
        name = self.groups[before[0]].name if before else ""
        package = self.groups[before[0]].ids[before[1]] if len(before) > 1 else None
        places = {group.name: ordinal for ordinal, group in enumerate(groups)}
        opened = [self.groups[path[0]].name for path in self.outline.expanded()]
        self.groups, self.outline, self._rows, self.by = groups, Outline(len(groups)), {}, by
        self._columns = {}
        for known in opened:
            if known in places:
                self.outline.expand((places[known],), len(groups[places[known]].ids))
        self._return_to(before, places.get(name), package)
        self.renew()

    def _return_to(self, before: Path, ordinal: int | None, package: int | None) -> None:
        """Put the cursor on the same group, or in it on the same package, else on the next one."""
        if ordinal is None:
            return
        path, ids = (ordinal, *before[1:]), self.groups[ordinal].ids
        if len(path) > 1:
            at = ids.index(package) if package in ids else min(path[1], len(ids) - 1)
            path = ordinal, at
        self.cursor = self.outline.line_of(path)
        self._show_cursor()

    def renew(self) -> None:
        """Draw again, in as many rows as are needed, up to a share of the screen."""
        self.styles.max_height = max(1, self.line_count()) + 1
        super().renew()

    def line_count(self) -> int:
        """Count the groups, and the packages of open ones."""
        return self.outline.height

    def line(self, number: int, columns: int) -> Line:
        """Return a group or a package."""
        path = self.outline.locate(number)
        if len(path) > 1:
            context = RowContext(1, self.glyphs, time.time(), with_path=True)
            row = self.package(number)
            return tree_rows.draw(row, Columns.of(columns, tree_rows.need(row, context)), context)
        opened = self.outline.is_open(path)
        widths = self.columns_of(columns)
        return failure_groups.row(self.groups[path[0]], opened, widths, columns, self.glyphs)

    def columns_of(self, columns: int) -> GroupColumns:
        """Return the widths of the columns of groups."""
        if columns not in self._columns:
            self._columns[columns] = GroupColumns.of(self.groups, columns, self.by)
        return self._columns[columns]

    @property
    def selected(self) -> FailedPackages | None:
        """The group under the cursor, or that of the package there."""
        if not self.line_count():
            return None
        return self.groups[self.outline.locate(self.cursor)[0]]

    @property
    def selected_package(self) -> PackageRow | None:
        """The package under the cursor."""
        return self.package(self.cursor) if self.line_count() else None

    def package(self, number: int) -> PackageRow | None:
        """Return the package on a line; None on the line of a group."""
        path = self.outline.locate(number)
        if len(path) < 2:
            return None
        page = path[1] // PAGE
        ids = self.groups[path[0]].ids
        key = path[0], page
        if key not in self._rows:
            page_ids = ids[page * PAGE : (page + 1) * PAGE]
            self._rows[key] = self.dashboard.source.ask(
                lambda store: outline.packages_by_id(store, page_ids), {}
            )
        return self._rows[key].get(ids[path[1]])

    def toggle(self) -> None:
        """Open or close the group under the cursor."""
        if not self.line_count():
            return
        path = self.outline.locate(self.cursor)[:1]
        if self.outline.is_open(path):
            self.outline.collapse(path)
            self.move_to(self.outline.line_of(path))
        else:
            self.outline.expand(path, len(self.groups[path[0]].ids))
        self.renew()
