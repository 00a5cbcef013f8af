"""The main screen: the tree, the details beside it, the site below."""

import time

from textual.app import ComposeResult
from textual.containers import Container, Horizontal, Vertical
from textual.screen import Screen

from d0ctl.errors import D0Error
from d0ctl.show.drawing.spans import Line, Span
from d0ctl_tui.app_events import ColumnsMoved, CursorMoved, RowChosen, RowOpened
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.commands import ACT, LOOK, MOVE, OUTSIDE, REST, TREE, WATCH, Command, bindings
from d0ctl_tui.read import walk
from d0ctl_tui.read.marks import Marks
from d0ctl_tui.read.outline import Path
from d0ctl_tui.screens.details_keys import DetailsKeys
from d0ctl_tui.screens.dialogs import ask_action, finding_choices, search_results
from d0ctl_tui.screens.failed.failures import FailuresScreen
from d0ctl_tui.screens.row_keys import RowKeys
from d0ctl_tui.screens.site_strips import EventStrip, NodeStrip, RateStrip
from d0ctl_tui.screens.view_keys import ViewKeys
from d0ctl_tui.widgets.about_pane import AboutPane
from d0ctl_tui.widgets.details import Details
from d0ctl_tui.widgets.failure_pane import FailurePane
from d0ctl_tui.widgets.looks import COMPONENTS, WITH
from d0ctl_tui.widgets.status_lines import StatusLine
from d0ctl_tui.widgets.tree import Tree

SETTLE_S = 0.04
"""How long the panes get to find their sizes, once the card is read, before they are drawn."""


class MainScreen(ViewKeys, RowKeys, DetailsKeys, Screen[None]):
    """The screen that stays open all day."""

    COMPONENT_CLASSES = COMPONENTS
    DEFAULT_CLASSES = WITH
    BINDINGS = bindings(LOOK, OUTSIDE, WATCH, ACT, REST, MOVE)

    def __init__(self, dashboard: AppInterface, start: str | None) -> None:
        super().__init__()
        self.dashboard = dashboard
        self.start = start
        self._is_settled = self._is_drawn = self._is_start_missing = False
        glyphs = dashboard.glyphs
        self.tree_view = Tree(dashboard.source, glyphs, dashboard.terminal.columns)
        self.about = AboutPane(dashboard.source, glyphs, dashboard.interval, dashboard.key_of)
        self.details = Details(self.about)
        self.bands = [
            StatusLine("header", dashboard.header, glyphs),
            StatusLine("columns", self._heading, glyphs),
            StatusLine("footer", self._footer, glyphs, self._press),
        ]
        self.broken = FailurePane(dashboard.source, lambda: dashboard.snapshot, glyphs)
        self.events = EventStrip(dashboard, "events")
        self.strips = [NodeStrip(dashboard), EventStrip(dashboard), RateStrip(dashboard)]

    def compose(self) -> ComposeResult:
        """Compose the layout."""
        header, columns, footer = self.bands
        yield header
        with Container(id="body"):
            with Vertical(id="left"):
                yield columns
                yield self.tree_view
                yield self.broken
            yield self.details
            yield self.events
        with Horizontal(id="below"):
            yield from self.strips
        yield footer

    def on_mount(self) -> None:
        """Show everything."""
        for pane in (*self.strips, self.broken, self.events, self.about.tail_pane):
            pane.can_focus = False
        self.tree_view.focus()
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self.tree_view.refresh_rows(time.time(), self.dashboard.snapshot)
        self.show_first_view(jobs_only=bool(self.start))
        is_there = not self.start or self._leave_for(self.start)
        if not self.start and self.only is None and self.tree_view.outline.height == 1:
            self.tree_view.action_unfold()
        self.update()
        if is_there:
            self.dashboard.take_keys(drops_waiting=False)
        self._is_start_missing = not is_there
        self.set_timer(SETTLE_S, self._settle)

    def _settle(self) -> None:
        """Draw from now on: at the start, panes find their sizes one after another."""
        if self.about.is_unread:
            self.set_timer(SETTLE_S, self._settle)
            return
        self._is_settled = True
        if self._is_start_missing:  # keys for that row would act on another, unseen
            self.dashboard.take_keys(drops_waiting=True)
        self.refresh()

    def _compositor_refresh(self) -> None:
        if not self._is_drawn:  # Textual would draw these as well as everything
            self._dirty_widgets.clear()
            self._compositor._dirty_regions.clear()
        if self._is_settled and not self._is_drawn:
            self._is_drawn, self._repaint_required = True, False
            self._compositor._dirty_regions.add(self._compositor.size.region)
        if self._is_settled:
            super()._compositor_refresh()

    def update(self) -> None:
        """Show the present state."""
        self.show_rows()
        for part in (*self.bands, *self.strips, self.broken, self.events):
            part.renew()
        self.about.show(self.tree_view.selector, soon=True)

    def on_screen_resume(self) -> None:
        """Update after other screens were in front."""
        if self.tree_view.is_mounted:
            self.update()
            self.forget_left_row()

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
        self._leave_for(selector)

    def _leave_for(self, selector: str) -> bool:
        """Go to a path, and remember the previous row; return whether the path exists."""
        here, is_there = self.tree_view.selector, self._reveal(selector)
        if is_there and here and here != selector:
            self.dashboard.places.remember(here)
        return is_there

    def _reveal(self, selector: str) -> bool:
        """Go to a path; say so if it does not exist."""
        source, resolve = self.dashboard.source, self.dashboard.places.resolve
        jobs, listed = source.jobs, source.job_list
        try:
            path = resolve(selector)
            if source.jobs is not jobs:  # it is of a new job, or of a hidden one
                self.dashboard.reload()
                path = resolve(selector)
        except D0Error as error:
            hint = f": {error.hint}" if error.hint else ""
            self.dashboard.show_notice(f"{error}{hint}")
            return False
        if source.job_list != listed:
            self.dashboard.show_notice(f"all jobs are listed: `{selector}` was hidden")
        self._show_row(path)
        return True

    def _show_row(self, path: Path) -> None:
        self.show_tree()
        self.tree_view.reveal(path)
        self.update()

    def action_cursor(self, by: int) -> None:
        """Move the tree with keys that no pane has handled."""
        self.tree_view.action_cursor(by)

    def run_command(self, command: Command) -> None:
        """Run a command as if its key were pressed."""
        self.tree_view.focus()
        owner = self.tree_view if command in TREE else self
        self.call_later(owner.run_action, command.action)

    def action_palette(self) -> None:
        """Offer all commands by name."""
        self.find("what to do", search_results.palette)

    def action_act(self) -> None:
        """Offer every action on the selected rows."""
        self.dashboard.choose_action(self.action_rows())

    def action_undo(self) -> None:
        """Plan what undoes the last action of this person."""
        ask_action.undo_last(self.dashboard)

    def action_search(self) -> None:
        """Search by path, name, node, file and reason."""
        self.find("search path, name, word, ~regex",
                  finding_choices.everywhere, deeper=finding_choices.deeper)  # fmt: skip

    def action_jumps(self) -> None:
        """Offer visited rows."""
        self.find("places", search_results.jumps)

    def action_back(self) -> None:
        """Go back to the previous row."""
        been = self.dashboard.places.been
        if been:
            self._reveal(been.pop())
        else:
            self.dashboard.show_notice("no row was left by a search, a problem or a change")

    def action_problem(self, by: int, each: bool = False) -> None:
        """Go to the next group of packages that need a person, or package, or to the one before."""
        here = walk.WalkStart(self.tree_view.cursor_path, self.tree_view.chosen_row)
        snapshot, source = self.dashboard.snapshot, self.dashboard.source
        path = walk.next_problem(source, snapshot, here, forward=by > 0, by_group=not each)
        if path is None:
            where = " in the jobs that are listed" if source.job_list.hides else ""
            self.dashboard.show_notice(f"nothing needs a person{where}", "good")
        elif path == here.path:
            self.dashboard.show_notice("no other problem", "plain")
        else:
            left = self.tree_view.selector
            self._show_row(path)
            if left and left != self.tree_view.selector:
                self.dashboard.places.remember(left)

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
        if self.tree_view.marks or not self.is_for_another_row():
            self.dashboard.plan_verb(verb, self.action_rows())

    def action_rows(self) -> Marks:
        """Return the rows of an action: the marked ones, or else the one of the cursor."""
        if self.tree_view.marks:
            return self.tree_view.marks
        return Marks({self.tree_view.selector} if self.tree_view.selector else set())

    def action_clear(self) -> None:
        """End the zoom, then the filter, then the marks, then the past."""
        if self.zoomed:
            self.action_view()
            return
        if self.only is not None:
            here = self.tree_view.selector
            self.show_tree()
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

    def _footer(self, columns: int) -> Line:
        return self.dashboard.foot(self.commands, columns, self._selection_spans())

    def _press(self, column: int) -> None:
        room = self.bands[2].size.width
        self.dashboard.press(self.commands, room, self._selection_spans(), column)

    def _selection_spans(self) -> list[Span]:
        more: list[Span] = []
        if self.tree_view.marks:
            more.append((f" {len(self.tree_view.marks):,} marked ", "mark"))
        if self.only is not None and self.tree_view.filtered is not None:
            more.append(
                (f" {self.only.name}{self.limit}: {len(self.tree_view.filtered):,} ", "mark")
            )
        return more
