"""The main screen: the tree, the details beside it, the site below."""

import time
from array import array
from collections.abc import Callable
from functools import partial

from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.screen import Screen

from d0ctl.errors import D0Error
from d0ctl.select import Selector
from d0ctl.show.drawing.spans import Line, Span
from d0ctl.store.connection import Store
from d0ctl.store.views.shapes import JobSummary
from d0ctl_tui.app_events import ColumnsMoved, CursorMoved, RowChosen, RowOpened
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.commands import ACT, LOOK, MAIN, MOVE, OUTSIDE, REST, TREE, Command, bindings
from d0ctl_tui.draw import tree_rows
from d0ctl_tui.marks import Marks
from d0ctl_tui.read import walk
from d0ctl_tui.screens.dialogs import search_results
from d0ctl_tui.screens.dialogs.search_box import Choice, Finder
from d0ctl_tui.screens.failures import FailuresScreen
from d0ctl_tui.screens.row_keys import RowKeys
from d0ctl_tui.screens.site_strips import EventStrip, NodeStrip, RateStrip
from d0ctl_tui.widgets.about_pane import AboutPane
from d0ctl_tui.widgets.details import Details
from d0ctl_tui.widgets.looks import COMPONENTS, WITH
from d0ctl_tui.widgets.status_lines import StatusLine
from d0ctl_tui.widgets.tree import Tree

SETTLE_S = 0.04
"""How long the panes get to find their sizes, once the card is read, before they are drawn."""


class MainScreen(RowKeys, Screen[None]):
    """The screen that stays open all day."""

    COMPONENT_CLASSES = COMPONENTS
    DEFAULT_CLASSES = WITH
    BINDINGS = bindings(LOOK, OUTSIDE, ACT, REST, MOVE)

    def __init__(self, dashboard: AppInterface, start: str | None) -> None:
        super().__init__()
        self.dashboard = dashboard
        self.start = start
        self.zoomed = self._is_settled = False
        glyphs = dashboard.glyphs
        self.tree_view = Tree(dashboard.source, glyphs)
        self.about = AboutPane(dashboard.source, glyphs, dashboard.interval)
        self.details = Details(self.about)
        self.bands = [
            StatusLine("header", dashboard.header, glyphs),
            StatusLine("columns", self._heading, glyphs),
            StatusLine("footer", self._footer, glyphs, self._press),
        ]
        self.strips = [NodeStrip(dashboard), EventStrip(dashboard), RateStrip(dashboard)]

    def compose(self) -> ComposeResult:
        """Compose the layout."""
        header, columns, footer = self.bands
        yield header
        with Container(id="body"):
            with Vertical(id="left"):
                yield columns
                yield self.tree_view
            yield self.details
        with Horizontal(id="below"):
            yield from self.strips
        yield footer

    def on_mount(self) -> None:
        """Show everything."""
        for strip in self.strips:
            strip.can_focus = False
        self.tree_view.focus()
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self.tree_view.refresh_rows(time.time(), self.dashboard.snapshot.slots)
        if self.start:
            self.go_to(self.start)
        elif self.tree_view.outline.height == 1:
            self.tree_view.action_unfold()
        self.update()
        self.set_timer(SETTLE_S, self._settle)

    def _settle(self) -> None:
        """Draw from now on: at the start, panes find their sizes one after another."""
        if self.about.is_unread:
            self.set_timer(SETTLE_S, self._settle)
            return
        self._is_settled = True
        self.refresh()

    def _compositor_refresh(self) -> None:
        if self._is_settled:
            super()._compositor_refresh()
        else:  # Textual would draw these as well as everything
            self._dirty_widgets.clear()
            self._compositor._dirty_regions.clear()

    def update(self) -> None:
        """Show the present state."""
        self.tree_view.refresh_rows(time.time(), self.dashboard.snapshot.slots)
        for part in (*self.bands, *self.strips):
            part.renew()
        self.about.show(self.tree_view.selector, soon=True)

    def on_screen_resume(self) -> None:
        """Update after other screens were in front."""
        if self.tree_view.is_mounted:
            self.update()

    def on_cursor_moved(self, message: CursorMoved) -> None:
        """Show the details of the selected row."""
        self.about.show(self.tree_view.selector)

    def on_row_chosen(self, message: RowChosen) -> None:
        """Show the details of the selected row, and how many rows are marked."""
        self.about.show(self.tree_view.selector)
        self.bands[-1].renew()

    def on_columns_moved(self, message: ColumnsMoved) -> None:
        """Align the column names with the columns."""
        self.bands[1].renew()

    def on_row_opened(self, message: RowOpened) -> None:
        """Show all about a package."""
        self.action_view()

    def go_to(self, selector: str) -> None:
        """Go to a path, and remember the previous row."""
        here = self.tree_view.selector
        if self._reveal(selector) and here and here != selector:
            self.dashboard.places.remember(here)

    def _reveal(self, selector: str) -> bool:
        """Go to a path; say so if it does not exist."""
        try:
            path = self.dashboard.places.resolve(selector)
        except D0Error as error:
            hint = f": {error.hint}" if error.hint else ""
            self.dashboard.show_notice(f"{error}{hint}")
            return False
        self.tree_view.reveal(path)
        self.update()
        return True

    def action_cursor(self, by: int) -> None:
        """Move the tree with keys that no pane has handled."""
        self.tree_view.action_cursor(by)

    def action_view(self) -> None:
        """Show the details on the whole screen, or end that."""
        self.zoomed = not self.zoomed
        self.query_one("#left").display = not self.zoomed
        self.details.zoom(self.zoomed)
        (self.about if self.zoomed else self.tree_view).focus()
        self.about.whole = self.zoomed
        self.about.renew()

    def run_command(self, command: Command) -> None:
        """Run a command as if its key were pressed."""
        self.tree_view.focus()
        owner = self.tree_view if command in TREE else self
        self.call_later(owner.run_action, command.action)

    def find(self, title: str, finder: Callable[["MainScreen", str], list[Choice]],
             *, slow: bool = False) -> None:  # fmt: skip
        """Open a search box, and run the choice."""

        def take(choice: Choice | None) -> None:
            if choice is not None and choice.do is not None:
                choice.do()

        self.app.push_screen(Finder(self.dashboard, title, partial(finder, self), slow=slow), take)

    def action_palette(self) -> None:
        """Offer all commands by name."""
        self.find("what to do", search_results.palette)

    def action_act(self) -> None:
        """Offer every action on the selected rows."""
        self.dashboard.choose_action(self.action_rows())

    def action_search(self) -> None:
        """Search by path, name, node, file and reason."""
        self.find("search by path, name or word", search_results.everywhere, slow=True)

    def action_filter(self) -> None:
        """Show only packages in some state."""
        self.find("show only", search_results.filters)

    def action_jumps(self) -> None:
        """Offer visited rows."""
        self.find("places", search_results.jumps)

    def action_back(self) -> None:
        """Go back to the previous row."""
        been = self.dashboard.places.been
        if been:
            self._reveal(been.pop())

    def action_problem(self, by: int, each: bool = False) -> None:
        """Go to the next group of packages that need a person, or package, or to the one before."""
        here = walk.WalkStart(self.tree_view.chosen, self.tree_view.chosen_row)
        needing, source = self.dashboard.snapshot.needing, self.dashboard.source
        path = walk.next_problem(source, needing, here, forward=by > 0, by_group=not each)
        if path is None:
            self.dashboard.show_notice("nothing needs a person", "good")
        else:
            self.tree_view.reveal(path)
            self.update()

    def action_failures(self) -> None:
        """Show the failures of the selected job, grouped."""
        job = self.tree_view.chosen_job
        name, id = (job.name, job.id) if job and job.counts.get("failed") else (None, None)
        self.app.push_screen(FailuresScreen(self.dashboard, name, id))

    def action_nodes(self) -> None:
        """Show the nodes."""
        if not self.dashboard.is_past():
            self.dashboard.show_nodes()

    @property
    def selector(self) -> str | None:
        """Return the path of the selected row."""
        return self.tree_view.selector

    def action_verb(self, verb: str) -> None:
        """Plan an action on the marked rows, or else the selected one."""
        self.dashboard.plan_verb(verb, self.action_rows())

    def action_rows(self) -> Marks:
        """Return the rows of an action: the marked ones, or else the one of the cursor."""
        if self.tree_view.marks:
            return self.tree_view.marks
        return Marks({self.tree_view.selector} if self.tree_view.selector else set())

    def show_only(
        self, name: str, read: Callable[[Store], "array[int]"], selector: Selector | None = None
    ) -> None:
        """Show only the packages with these ids, all of a selector if there is one."""
        self.dashboard.filter_name = name
        self.tree_view.show_only(self.dashboard.source.ask(read, array("q")), selector)
        self.update()

    @property
    def scope(self) -> JobSummary | None:
        """Return the job that a filter is limited to: the only one, or that of a row below it."""
        path, jobs = self.tree_view.chosen, self.dashboard.source.jobs
        return self.tree_view.chosen_job if path and (len(path) > 1 or len(jobs) == 1) else None

    def action_clear(self) -> None:
        """End the zoom, then the filter, then the marks, then the past."""
        if self.zoomed:
            self.action_view()
            return
        if self.tree_view.filtered is not None:
            here = self.tree_view.selector
            self.tree_view.show_only(None)
            if here:
                self._reveal(here)
        elif self.tree_view.marks:
            self.tree_view.marks.clear()
        else:
            self.dashboard.show_present()
        self.update()

    def action_wider(self) -> None:
        """Make the details wider, or narrow again."""
        self.details.widen()

    def _heading(self, columns: int) -> Line:
        return tree_rows.heading(self.tree_view.columns)

    def _footer(self, columns: int) -> Line:
        return self.dashboard.foot(MAIN, columns, self._chosen())

    def _press(self, column: int) -> None:
        self.dashboard.press(MAIN, self.bands[2].size.width, self._chosen(), column)

    def _chosen(self) -> list[Span]:
        more: list[Span] = []
        if self.tree_view.marks:
            more.append((f" {len(self.tree_view.marks):,} marked ", "mark"))
        if self.tree_view.filtered is not None:
            more.append(
                (f" {self.dashboard.filter_name}: {len(self.tree_view.filtered):,} ", "mark")
            )
        return more
