"""Keys that choose what the main screen shows: filters, orders, saved views."""

import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from d0ctl.errors import D0Error
from d0ctl.show.drawing.spans import Line
from d0ctl.store.views.finding import job_list, package_order
from d0ctl.store.views.finding.job_list import JobList
from d0ctl.store.views.shapes import JobSummary, StageSummary
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.draw.columns import heading
from d0ctl_tui.read import saved_views
from d0ctl_tui.read.outline import Path
from d0ctl_tui.read.package_filter import PackageFilter
from d0ctl_tui.read.saved_views import SavedView
from d0ctl_tui.screens.dialogs import view_choices
from d0ctl_tui.screens.dialogs.order_choices import Sorting
from d0ctl_tui.screens.dialogs.search_box import Choice, Finder
from d0ctl_tui.widgets.about_pane import AboutPane
from d0ctl_tui.widgets.tree import Tree

LIVE = frozenset({"person", "straggler", "state"})
"""The filters whose packages change by themselves."""

JUST_S = 2.0
"""For how long a key may have been meant for the row that was under the cursor before."""

MOST_LIVE = 5_000
"""How long a list is at most that is read again after each change: 2 ms."""


class ViewKeys:
    """What is shown, as part of the main screen."""

    dashboard: AppInterface
    tree_view: Tree
    about: AboutPane
    only: PackageFilter | None = None
    """The packages that are shown as a list; None for the tree."""
    _chooses_jobs = False
    _left: tuple[str, str | None, float] | None = None
    """The row that has left the list by itself, the one that is there now, and when."""

    def update(self) -> None:
        """Show the present state."""
        raise NotImplementedError

    def find(
        self,
        title: str,
        finder: Callable[[Any, str], list[Choice]],
        deeper: Callable[[Any, str], Iterator[tuple[Sequence[Choice], float]]] | None = None,
    ) -> None:
        """Open a search box, and run the choice."""

        def take(choice: Choice | None) -> None:
            if choice is not None and choice.do is not None:
                choice.do()

        slowly = partial(deeper, self) if deeper else None
        find = partial(finder, self)
        box = Finder(self.dashboard, title, find, slow=slowly is not None, deeper=slowly)
        self.dashboard.app.push_screen(box, take)

    @property
    def view(self) -> SavedView:
        """What is shown, as it can be saved."""
        return SavedView(self.dashboard.source.job_list, self.only)

    def action_filter(self) -> None:
        """Show only packages in some state, or list only some jobs."""
        job = self.scope if len(self.dashboard.source.jobs) > 1 else None
        self.find(f"show only, of {job.name}" if job else "show only", view_choices.filters)

    def filter_all_jobs(self) -> None:
        """Show only packages in some state, of all listed jobs."""
        self.find("show only, of all jobs", view_choices.filters_of_all)

    @property
    def limit(self) -> str:
        """The job that the filter by state is limited to, in words; empty if just one is listed."""
        is_limited = self.only is not None and self.only.kind in ("person", "straggler", "state")
        if not is_limited or len(self.dashboard.source.jobs) < 2:
            return ""
        return f", of {self.only.job or 'all jobs'}" if self.only else ""

    def action_sort(self) -> None:
        """Choose the order of jobs or packages."""
        self.find("sort by; the same again: the other way round", view_choices.orders)

    def action_views(self) -> None:
        """Show, save or delete a view."""
        self.find("views: choose one, or type a name to save this one", view_choices.views)

    @property
    def scope(self) -> JobSummary | None:
        """Return the job under the cursor, to which a filter is limited; None without a row."""
        return self.tree_view.chosen_job if self.tree_view.cursor_path else None

    @property
    def around(self) -> PackageFilter | None:
        """Return the packages of the list, or those of the job, stage or line of the cursor."""
        if self.only is not None:
            return self.only
        path = self._above
        return PackageFilter("path", self.dashboard.source.selector(path) or "") if path else None

    @property
    def number_around(self) -> int:
        """Return how many packages these are."""
        source, path = self.dashboard.source, self._above
        row = source.row(path) if path else None
        if self.tree_view.filtered is not None:
            return len(self.tree_view.filtered)
        if isinstance(row, JobSummary | StageSummary):
            return sum(row.counts.values())
        return source.size(path) if path else 0

    @property
    def _above(self) -> Path:
        """The path of the job, stage or line whose packages are around the cursor."""
        path = self.tree_view.cursor_path or ()
        return path[: 2 if self.dashboard.source.is_only(path[:3]) else 3]

    def show_only(self, wanted: PackageFilter) -> None:
        """Show only these packages, as a list."""
        self.only = wanted
        source = self.dashboard.source
        ids = self._packages_of(wanted, array("q"))
        is_every_job = not source.job_list.hides
        name = f"{wanted.name}{self.limit}"
        self.tree_view.show_only(ids, wanted.selector(is_every_job), name, wanted.order)
        self.update()

    def show_rows(self) -> None:
        """Show the rows as they are now, and say if that of the cursor has left the list."""
        tree, seen = self.tree_view, self.about.selector
        tree.has_left = False
        self.follow_list()
        tree.refresh_rows(time.time(), self.dashboard.snapshot)
        is_present = self.dashboard.source.at is None
        if tree.has_left and seen and is_present and not self._chooses_jobs:
            self._left = seen, tree.selector, time.monotonic()
            self.dashboard.show_notice(f"`{seen}` has left the list{self._now}")

    def is_for_another_row(self) -> bool:
        """Return whether a key may have been meant for a row that has just left the list; say so,
        but only once.
        """
        (seen, now, at), self._left = self._left or ("", None, 0.0), None
        is_so = now == self.tree_view.selector and time.monotonic() - at < JUST_S
        if is_so and seen:
            self.dashboard.show_notice(f"nothing done: `{seen}` has just left the list{self._now}")
        return is_so and bool(seen)

    @property
    def _now(self) -> str:
        """Say on which row the cursor is, if there is one."""
        return f"; the cursor is on `{now}`" if (now := self.tree_view.selector) else ""

    def forget_left_row(self) -> None:
        """Let keys act on the row of the cursor: those of before were for a box."""
        self._left = None

    def follow_list(self) -> None:
        """Show which packages the filter has by now, the cursor on the same one if it stays.

        A long list stays as it is, and so does one with marked rows, which could leave it.
        """
        shown = self.tree_view.filtered
        if self.only is None or self.only.kind not in LIVE or shown is None:
            return
        if len(shown) > MOST_LIVE or self.tree_view.marks:
            return
        ids = self._packages_of(self.only, shown)
        if ids != shown:
            at = self.tree_view.cursor
            here = shown[at] if at < len(shown) else 0
            self.tree_view.filtered, self.tree_view.has_left = ids, bool(here) and here not in ids
            last = max(0, len(ids) - 1)
            self.tree_view.move_to(ids.index(here) if here in ids else min(at, last))

    def _packages_of(self, wanted: PackageFilter, default: "array[int]") -> "array[int]":
        source, now = self.dashboard.source, time.time()
        needing = self.dashboard.snapshot.needing_phases
        return source.ask(lambda store: wanted.ids(store, source.jobs, needing, now), default)

    def list_jobs(self, wanted: JobList) -> None:
        """List these jobs; marks of hidden ones would be acted on unseen."""
        self.tree_view.marks.clear()
        self.dashboard.source.job_list = wanted
        self._chooses_jobs = True
        self.dashboard.reload()
        self._chooses_jobs = False
        if self.only is not None:
            self.show_only(self.only)

    def show_view(self, view: SavedView) -> None:
        """Show the jobs and packages of a view."""
        self.show_tree()
        self.list_jobs(view.jobs)
        if view.packages is not None:
            self.show_only(view.packages)

    def show_tree(self) -> None:
        """Show the tree again, if a list of packages is shown."""
        if self.only is not None:
            self.only = None
            self.tree_view.show_only(None)

    def show_first_view(self, *, jobs_only: bool) -> None:
        """Show the view that is called `start`, if there is one."""
        try:
            view = saved_views.load().get(saved_views.START)
        except D0Error as error:
            self.dashboard.show_notice(str(error))
            return
        if view is not None:
            self.show_view(SavedView(view.jobs) if jobs_only else view)

    def _heading(self, columns: int) -> Line:
        jobs = self.dashboard.source.job_list
        known = {order: largest for order, (_, largest) in job_list.ORDERS.items()}
        now = Sorting(known, jobs.order, jobs.reverse)
        if self.only is not None:
            now = Sorting(package_order.ORDERS, self.only.order, self.only.reverse)
        order = ("", "") if now.is_usual else (now.order, now.arrow)
        return heading(self.tree_view.columns, *order)
