"""Marking rows of the tree, to act on several at once."""

from array import array

from d0ctl.select import Selector
from d0ctl.store.views.shapes import PackageRow
from d0ctl.store.views.shapes.of_package import BinaryView
from d0ctl_tui.app_events import RowChosen
from d0ctl_tui.draw.tree_rows import Row
from d0ctl_tui.read.marks import MarkedList, Marks, beside, filtered, these
from d0ctl_tui.read.outline import Outline, Path
from d0ctl_tui.read.tree_source import Source
from d0ctl_tui.widgets.lines import LineView


class Marking(LineView):
    """Rows that can be marked."""

    source: Source
    outline: Outline
    marks: Marks
    filter_selector: Selector | None
    filtered: "array[int] | None"

    @property
    def cursor_path(self) -> Path | None:
        """The path of the row under the cursor."""
        raise NotImplementedError

    @property
    def chosen_row(self) -> Row | None:
        """Return the row under the cursor."""
        raise NotImplementedError

    @property
    def selector(self) -> str | None:
        """Return the path of the row under the cursor, as it is typed."""
        raise NotImplementedError

    def package_at(self, number: int) -> PackageRow | None:
        """Return a package of the filter."""
        raise NotImplementedError

    def action_mark_all(self) -> None:
        """Mark all siblings of this row, or all rows of a filter; a second time, none."""
        whole, selector = self._whole(), self._markable
        if whole is not None and selector is not None:
            self.marks.toggle_whole(whole, selector, self._package_id())
            self.renew()
            self.post_message(RowChosen(self.cursor_path))

    def _whole(self) -> MarkedList | None:
        """Return all siblings of the row under the cursor, or all rows of the filter."""
        if self.filtered is not None:
            ids = self.filtered
            return filtered(self.filter_selector, ids, lambda: self.source.paths(ids))
        path = self.cursor_path
        if path is None or isinstance(self.chosen_row, BinaryView):
            return None
        front = self.source.selector(path[:-1]) or ""
        parent = self.outline.branch(path[:-1])
        size = parent.size if parent else 0
        if front:
            return beside(front, [f"{front}/{number + 1}" for number in range(size)])
        jobs = [self.source.selector((job,)) or "" for job in range(size)]
        return these(jobs) if self.source.job_list.hides else beside("", jobs)

    def _package_id(self) -> int | None:
        row = self.chosen_row
        return row.id if isinstance(row, PackageRow) else None

    def action_mark(self) -> None:
        """Mark the row, or remove its mark, and go to the next."""
        if (selector := self._markable) is not None:
            self.marks.toggle(selector, self._package_id())
            self.move_to(self.cursor + 1)
            self.renew()
            self.post_message(RowChosen(self.cursor_path))

    def _is_marked(self, number: int) -> bool:
        package = self.package_at(number) if self.marks else None
        return package is not None and self.marks.covers(package.path, package.id)

    def _is_marked_at(self, path: Path) -> bool:
        row = self.source.row(path)
        if isinstance(row, BinaryView):
            return False
        id = row.id if isinstance(row, PackageRow) else None
        return self.marks.covers(self._name_of_mark(path) or "", id)

    @property
    def _markable(self) -> str | None:
        """Return the name of a mark on the row under the cursor."""
        return self._name_of_mark(self.cursor_path) if self.cursor_path else self.selector

    def _name_of_mark(self, path: Path) -> str | None:
        """Mark a line and its only package as the line, like the lines beside it."""
        name = self.source.selector(path)
        if name is None or not self.source.is_only(path) or name in self.marks.paths:
            return name
        return name.rpartition("/")[0]
