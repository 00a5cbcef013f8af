"""Expanding and collapsing rows of the tree, whose rows may become more or fewer."""

from d0ctl.store.views.shapes.of_package import BinaryView
from d0ctl_tui.read.outline import Path
from d0ctl_tui.widgets.marking import Marking


class Folding(Marking):
    """Rows that can be expanded and collapsed."""

    has_left = False
    """Whether the row of the cursor has left the list."""

    def action_unfold(self) -> None:
        """Expand the row, or go to its first child."""
        path = self.cursor_path
        if path is None or isinstance(self.chosen_row, BinaryView):
            return
        if self.outline.is_open(path):
            if self.outline.branch(path).size:  # type: ignore[union-attr]
                self.move_to(self.cursor + 1)
            return
        self.outline.expand(path, self.source.size(path))
        self.renew()

    def action_fold(self) -> None:
        """Collapse the row, or go to its parent."""
        path = self.cursor_path
        if path is None:
            return
        if self.outline.is_open(path):
            self.outline.collapse(path)
            self.renew()
        elif len(path) > 1:
            self.move_to(self.outline.line_of(path[:-1]))

    def click_line(self, number: int, column: int) -> None:
        """Expand or collapse by a click on the sign before a row's name."""
        path = self.cursor_path
        if path is None or isinstance(self.chosen_row, BinaryView):
            return
        if column <= 2 * len(path):
            self.action_fold() if self.outline.is_open(path) else self.action_unfold()

    def follow_row(self, path: Path) -> None:
        """Keep the cursor on a row, or beside it if it no longer exists."""
        here = self.outline.nearest(path)
        self.has_left = here != path
        if (line := self.outline.line_of(here)) != self.cursor:
            self.cursor = line
            self._measure()
            self._show_cursor()
