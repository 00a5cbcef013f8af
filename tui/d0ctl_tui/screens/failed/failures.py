"""Failures, grouped by a property, and all about the selected group."""

import time
from array import array
from collections.abc import Callable
from functools import partial

from msgspec.structs import replace
from textual import work
from textual.app import ComposeResult
from textual.timer import Timer

from d0ctl.errors import D0Error
from d0ctl.show.drawing.spans import EMPTY, Line, Span, foreign, spread, width
from d0ctl.store.opening import reader
from d0ctl.store.views import activity
from d0ctl.units import count
from d0ctl_tui.app_events import CursorMoved, LineOpened, ThreadResult
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.commands import FAILURES, SUB, Command, bindings
from d0ctl_tui.draw import failure_groups
from d0ctl_tui.draw.failure_groups import ORDERS, PROPERTIES, FailedPackages, grouped
from d0ctl_tui.read.marks import Marks, filtered
from d0ctl_tui.screens.dialogs import ask_action
from d0ctl_tui.screens.dialogs.order_choices import Sorting, ask_order
from d0ctl_tui.screens.failed.group_details import GroupDetails
from d0ctl_tui.screens.failed.group_list import GroupList
from d0ctl_tui.screens.sub import SubScreen
from d0ctl_tui.widgets.status_lines import StatusLine

MOST = 100_000
"""How many failed packages are grouped; the header counts all."""

AT_ONCE = 5_000
"""More failed packages than this are grouped in a thread; these take 5 ms."""

AGAIN_S = 1.0
"""How long the groups stay unchanged while more packages fail."""

Grouping = Callable[[], list[FailedPackages]]


class FailuresScreen(SubScreen):
    """All failures of all jobs, or of one."""

    BINDINGS = bindings(FAILURES, SUB)
    COMMANDS_HERE = FAILURES

    def __init__(
        self, dashboard: AppInterface, job: str | None, job_id: int | None, by: str = "reason"
    ) -> None:
        super().__init__(dashboard)
        self.job = job
        self.job_id = job_id
        self.only = job, job_id
        self.by = by
        self.groups = GroupList(dashboard)
        self.heads = StatusLine("columns", self._heads, dashboard.glyphs)
        self.details = GroupDetails(dashboard)
        self.groups.nothing = "looking ..."
        self._failed: list[activity.Failed] | None = None
        self._group: Grouping | None = None
        self._number: int | None = None
        self._read_at = 0.0
        self._again: Timer | None = None

    def body(self) -> ComposeResult:
        """Yield the groups, and below them all about the selected one."""
        yield self.heads
        yield self.groups
        yield self.details

    def on_mount(self) -> None:
        """Read the failures."""
        self.groups.focus()
        self._read()

    def headline(self, columns: int) -> Line:
        """Return what is grouped, and by which property."""
        of = "all listed jobs" if self.dashboard.source.job_list.hides else "all jobs"
        left: list[Span] = [(f" failures of {foreign(self.job or of)}", "title")]
        left.append(("  by ", "faint"))
        for name in PROPERTIES:
            left += [(name, "key" if name == self.by else "faint"), ("  ", "")]
        number, now = self._number, self._sorting
        summary = "looking ..." if number is None else count(number, "failed package")
        order = f" sorted by {now.order} {now.arrow}"
        if not now.is_usual and width(left) + len(order) + len(summary) + 2 <= columns:
            left.append((order, "faint"))
        return spread(left, [(f"{summary} ", "bad" if number else "faint")], columns)

    def in_footer(self) -> tuple[Command, ...]:
        """Return the commands with `f` as what it would do now, if anything."""
        foot = "all jobs" if self.job_id is not None else "one job"
        return tuple(
            replace(command, foot=foot) if command.action == "scope" else command
            for command in FAILURES
            if command.action != "scope" or self.only != (None, None)
        )

    def update(self) -> None:
        """Read again after a change, but not too often."""
        super().update()
        wait = self._read_at + AGAIN_S - time.monotonic()
        if self._again is None and wait > 0:
            self._again = self.set_timer(wait, self._read)
        elif self._again is None:
            self._read()

    def action_group(self, by: int) -> None:
        """Group by another property."""
        names = list(PROPERTIES)
        self.by = names[(names.index(self.by) + by) % len(names)]
        self._regroup()

    def action_scope(self) -> None:
        """Show the failures of all jobs, or again those of the job for which it was opened."""
        if self.only == (None, None):
            self.dashboard.show_notice("these are the failures of all jobs already")
            return
        self.job, self.job_id = self.only if self.job_id is None else (None, None)
        self._read()
        super().update()

    def action_undo(self) -> None:
        """Plan what undoes the last action of this person."""
        ask_action.undo_last(self.dashboard)

    def action_fold(self) -> None:
        """Open or close a group."""
        self.groups.toggle()

    def action_open(self) -> None:
        """Open a group, or go to a package in the tree."""
        self.groups.action_open_line()

    def on_cursor_moved(self, message: CursorMoved) -> None:
        """Show another group, or another package."""
        self._show_details()

    def on_line_opened(self, message: LineOpened) -> None:
        """Open a group, or go to a package in the tree."""
        package = self.groups.package(message.line) if self.groups.line_count() else None
        if package is None:
            self.groups.toggle()
        else:
            self.app.pop_screen()
            self.dashboard.go_to(package.path)

    def action_log(self) -> None:
        """Show the log of the package; of a group, that of its latest."""
        if self.details.card is not None and self.details.card.latest:
            self.dashboard.show_log(self.details.card.latest)

    def action_view(self) -> None:
        """Show the details on the whole screen, or again below the groups."""
        self.toggle_class("-zoomed")
        (self.details.about if self.has_class("-zoomed") else self.groups).focus()

    def action_leave(self) -> None:
        """Go back from the whole screen to the groups, or from them to the screen below."""
        if self.has_class("-zoomed"):
            self.action_view()
        else:
            super().action_leave()

    def action_act(self) -> None:
        """Offer actions on the package, or on all packages of the group."""
        if marks := self._marks():
            self.dashboard.choose_action(marks)

    def action_verb(self, verb: str) -> None:
        """Show what an action would do to the package, or to all packages of the group."""
        if marks := self._marks():
            self.dashboard.plan_verb(verb, marks)

    def _marks(self) -> Marks | None:
        group, package = self.groups.selected, self.groups.selected_package
        if package is not None:
            return Marks({package.path})
        if group is None:
            return None
        if (selector := group.selector(self.groups.by)) is None:
            return Marks(set(self.dashboard.source.paths(group.ids)))
        ids = array("q", group.ids)
        return Marks(wholes=[filtered(selector, ids, lambda: self.dashboard.source.paths(ids))])

    @property
    def _sorting(self) -> Sorting:
        known = {order: largest for order, (_, largest) in ORDERS.items()}
        return Sorting(known, *self.dashboard.orders.get("failures", ("number", False)))

    def action_sort(self) -> None:
        """Choose the order of the groups."""
        ask_order(self.dashboard, "failures", self._sorting, self._regroup)

    def _regroup(self) -> None:
        failed, now = self._failed or [], self._sorting
        self._group = partial(grouped, failed, self.by, now.order, reverse=now.reverse)
        if len(failed) <= AT_ONCE:
            self._show_groups(self._group, self._group())
        else:
            self._group_many(self._group)

    @work(thread=True, exclusive=True, group="grouping", description="group")
    def _group_many(self, group: Grouping) -> None:
        # Without a description, Textual writes the arguments into one: all failures.
        self.dashboard.post_message(ThreadResult(partial(self._show_groups, group, group())))

    def _show_groups(self, group: Grouping, groups: list[FailedPackages]) -> None:
        """Show the groups, unless others are wanted by now."""
        if group is not self._group or not self.is_mounted:
            return
        self._number = None if self._failed is None else len(self._failed)
        self.groups.show(groups, self.by)
        super().update()
        self.heads.renew()
        self._show_details()

    def _show_details(self) -> None:
        self.details.show(self.groups.selected, self.groups.selected_package, self.groups.by)

    def _heads(self, columns: int) -> Line:
        if not self.groups.groups:
            return EMPTY
        now = self._sorting
        order = ("", "") if now.is_usual else (now.order, now.arrow)
        widths = self.groups.columns_of(columns)
        return failure_groups.heads(widths, columns, self.groups.by, *order)

    def _read(self) -> None:
        self._again, self._read_at = None, time.monotonic()
        source = self.dashboard.source
        jobs = [self.job_id] if self.job_id is not None else list(source.jobs)
        if source.at is not None:
            self._take(source.ask(lambda store: activity.failed(store, jobs, MOST), []))
        else:
            self._read_present(jobs)

    @work(thread=True, exclusive=True)
    def _read_present(self, jobs: list[int]) -> None:
        home = self.dashboard.home
        try:
            with reader(home) as store:
                found = activity.failed(store, jobs, MOST)
        except D0Error as error:
            self.dashboard.post_message(
                ThreadResult(partial(self.dashboard.show_notice, str(error)))
            )
            return
        self.dashboard.post_message(ThreadResult(partial(self._take, found)))

    def _take(self, found: list[activity.Failed]) -> None:
        if self.is_mounted and found != self._failed:
            self._failed = found
            self.groups.nothing = f"no package of {foreign(self.job or 'these jobs')} is failed now"
            self._regroup()
