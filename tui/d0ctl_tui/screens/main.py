"""The main screen: the tree, what is chosen beside it, the site below."""

import time
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.screen import Screen

from d0ctl_tui.commands import ACT, LOOK, MAIN, MOVE, REST, bindings
from d0ctl_tui.draw import rows
from d0ctl_tui.draw.rows import Columns
from d0ctl_tui.draw.spans import Line, Span
from d0ctl_tui.messages import CursorMoved, RowChosen, RowOpened
from d0ctl_tui.widgets.about_pane import AboutPane
from d0ctl_tui.widgets.band import Band, Page
from d0ctl_tui.widgets.tree import Tree

if TYPE_CHECKING:
    from d0ctl_tui.app import Dashboard


class MainScreen(Screen[None]):
    """What one keeps open all day."""

    BINDINGS = bindings(LOOK, ACT, REST, MOVE)

    def __init__(self, board: "Dashboard", start: str | None) -> None:
        super().__init__()
        self.board = board
        self.start = start
        glyphs = board.glyphs
        self.tree_view = Tree(board.source, glyphs)
        self.about = AboutPane(board.source, glyphs)
        self.bands = [
            Band("header", board.header, glyphs),
            Band("columns", self._heading, glyphs),
            Band("footer", self._footer, glyphs),
        ]
        self.strips = [
            Page("nodes", board.node_lines, glyphs),
            Page("ticker", board.event_lines, glyphs),
            Page("rates", self._rates, glyphs),
        ]

    def compose(self) -> ComposeResult:
        """Lay it out."""
        header, columns, footer = self.bands
        yield header
        with Container(id="body"):
            with Vertical(id="left"):
                yield columns
                yield self.tree_view
            with Vertical(id="right"):
                yield self.about
        with Horizontal(id="below"):
            yield from self.strips
        yield footer

    def on_mount(self) -> None:
        """Show what is there."""
        for strip in self.strips:
            strip.can_focus = False
        self.tree_view.focus()
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self.update()
        if self.start:
            self.go_to(self.start)
        elif self.tree_view.outline.height:
            self._unfold_first()

    def _unfold_first(self) -> None:
        """Open the job that there is, if there is just one."""
        if self.tree_view.outline.height == 1:
            self.tree_view.action_unfold()

    def update(self) -> None:
        """Show what is true now."""
        self.tree_view.refresh_rows(time.time(), self.board.beat.slots)
        for part in (*self.bands, *self.strips):
            part.renew()
        self.about.show(self.tree_view.selector, soon=True)

    def on_screen_resume(self) -> None:
        """Other screens were in front, and something may have changed."""
        if self.tree_view.is_mounted:
            self.update()

    def on_cursor_moved(self, message: CursorMoved) -> None:
        """Tell about what is chosen now."""
        self.about.show(self.tree_view.selector)

    def on_row_chosen(self, message: RowChosen) -> None:
        """Tell about what is chosen now."""
        self.about.show(self.tree_view.selector)

    def on_row_opened(self, message: RowOpened) -> None:
        """Show all about a package."""
        self.action_view()

    def go_to(self, selector: str) -> None:
        """Reveal what a path names."""
        self.board.places.go(self, selector)

    def action_cursor(self, by: int) -> None:
        """Keys that no pane took move the tree."""
        self.tree_view.action_cursor(by)

    def action_view(self) -> None:
        """Give the whole screen to what is chosen, or take it back."""
        zoomed = self.toggle_class("-zoomed").has_class("-zoomed")
        (self.about if zoomed else self.tree_view).focus()
        self.about.whole = zoomed
        self.about.renew()

    def action_wider(self) -> None:
        """Give more room to the pane beside the tree, or take it back."""
        self.toggle_class("-broad")

    def _heading(self, columns: int) -> Line:
        width = self.tree_view.size.width or columns
        return rows.heading(Columns.of(width))

    def _footer(self, columns: int) -> Line:
        more: list[Span] = []
        if self.tree_view.marks:
            more.append((f" {len(self.tree_view.marks)} marked ", "mark"))
        if self.tree_view.filtered is not None:
            more.append((f" {self.board.filter_name}: {len(self.tree_view.filtered):,} ", "mark"))
        return self.board.foot(MAIN, columns, more)

    def _rates(self, columns: int) -> list[Line]:
        return self.board.rate_lines(columns, self.strips[2].size.height)
