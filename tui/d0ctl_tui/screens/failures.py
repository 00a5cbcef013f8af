"""Failures, grouped by a property; each group opens to its packages."""

import time
from functools import partial

from textual import work
from textual.app import ComposeResult

from d0ctl.errors import D0Error
from d0ctl.show.drawing.spans import Line, Span, foreign, spread
from d0ctl.store.opening import open_store
from d0ctl.store.sqlite_errors import database_errors
from d0ctl.store.views import activity, outline
from d0ctl.store.views.shapes import PackageRow
from d0ctl.units import count, listed
from d0ctl_tui.app_events import LineOpened, ThreadResult
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.commands import FAILURES, SUB, bindings
from d0ctl_tui.draw import tree_rows
from d0ctl_tui.draw.columns import Columns
from d0ctl_tui.draw.failure_groups import ORDERS, PROPERTIES, Cluster, clusters
from d0ctl_tui.draw.row_cells import RowContext, clock, gist
from d0ctl_tui.marks import Marks
from d0ctl_tui.read.outline import Outline
from d0ctl_tui.read.tree_source import PAGE
from d0ctl_tui.screens.dialogs.order_choices import Sorting, ask_order
from d0ctl_tui.screens.sub import SubScreen
from d0ctl_tui.widgets.lines import LineView

MOST = 100_000
"""How many failed packages are grouped; the header counts all."""

AGAIN_S = 1.0
"""How long the groups stay unchanged while more packages fail."""


class Groups(LineView):
    """The groups, and the packages of open ones."""

    has_cursor = True

    def __init__(self, dashboard: AppInterface) -> None:
        super().__init__(id="groups", glyphs=dashboard.glyphs)
        self.dashboard = dashboard
        self.outline = Outline()
        self.found: list[Cluster] = []
        self._rows: dict[tuple[int, int], dict[int, PackageRow]] = {}

    def show(self, found: list[Cluster]) -> None:
        """Show these groups; open ones stay open."""
        places = {cluster.name: ordinal for ordinal, cluster in enumerate(found)}
        opened = [self.found[path[0]].name for path in self.outline.expanded()]
        self.found, self.outline, self._rows = found, Outline(len(found)), {}
        for name in opened:
            if name in places:
                self.outline.expand((places[name],), len(found[places[name]].ids))
        self.renew()

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
        return self._cluster(self.found[path[0]], self.outline.is_open(path), columns)

    def package(self, number: int) -> PackageRow | None:
        """Return the package on a line; None on the line of a group."""
        path = self.outline.locate(number)
        if len(path) < 2:
            return None
        page = path[1] // PAGE
        ids = self.found[path[0]].ids
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
            self.outline.expand(path, len(self.found[path[0]].ids))
        self.renew()

    def _cluster(self, cluster: Cluster, opened: bool, columns: int) -> Line:
        glyphs = self.glyphs
        left: list[Span] = [
            (f" {glyphs.open if opened else glyphs.shut} ", "faint"),
            (f"{len(cluster.ids):>7,} ", "bad" if cluster.acknowledged < len(cluster.ids) else ""),
            (foreign(cluster.name), "strong"),
        ]
        if cluster.acknowledged:
            left.append((f"  {cluster.acknowledged:,} acknowledged", "faint"))
        about = [listed(sorted(cluster.nodes)[:3])] if len(cluster.nodes) < 4 else []
        about += [] if about else [count(len(cluster.nodes), "node")]
        left.append((f"  on {foreign(', '.join(about))}", "faint"))
        left.append((f"  {foreign(gist(cluster.message))}", "plain"))
        return spread(left, [(f"last {clock(cluster.last, time.time())} ", "faint")], columns)


class FailuresScreen(SubScreen):
    """All failures of all jobs, or of one."""

    BINDINGS = bindings(FAILURES, SUB)
    COMMANDS_HERE = FAILURES

    def __init__(self, dashboard: AppInterface, job: str | None, job_id: int | None) -> None:
        super().__init__(dashboard)
        self.job = job
        self.job_id = job_id
        self.by = next(iter(PROPERTIES))
        self.groups = Groups(dashboard)
        self.groups.nothing = "looking ..."
        self._failed: list[activity.Failed] | None = None
        self._read_at = 0.0

    def body(self) -> ComposeResult:
        """Yield the groups."""
        yield self.groups

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
        now = self._sorting
        if (now.order, now.reverse) != ("number", False):
            left.append((f" sorted by {now.order} {now.arrow}", "faint"))
        number = len(self._failed) if self._failed is not None else None
        summary = "looking ..." if number is None else count(number, "failed package")
        return spread(left, [(f"{summary} ", "bad" if number else "faint")], columns)

    def update(self) -> None:
        """Read again after a change, but not too often."""
        super().update()
        if time.monotonic() - self._read_at > AGAIN_S:
            self._read()

    def action_group(self, by: int) -> None:
        """Group by another property."""
        names = list(PROPERTIES)
        self.by = names[(names.index(self.by) + by) % len(names)]
        self.groups.outline.collapse_all()
        self.groups.cursor = 0
        self._regroup()

    def action_fold(self) -> None:
        """Open or close a group."""
        self.groups.toggle()

    def action_open(self) -> None:
        """Open a group, or go to a package in the tree."""
        self.groups.action_open_line()

    def on_line_opened(self, message: LineOpened) -> None:
        """Open a group, or go to a package in the tree."""
        package = self.groups.package(message.line) if self.groups.line_count() else None
        if package is None:
            self.groups.toggle()
        else:
            self.app.pop_screen()
            self.dashboard.go_to(package.path)

    def action_log(self) -> None:
        """Show the log of the package."""
        package = self.groups.package(self.groups.cursor) if self.groups.line_count() else None
        if package is not None:
            self.dashboard.show_log(package.path)

    def action_act(self) -> None:
        """Offer actions on the package, or on all packages that failed for this reason."""
        if not self.groups.line_count():
            return
        package = self.groups.package(self.groups.cursor)
        if package is not None:
            self.dashboard.choose_action(Marks({package.path}))
            return
        path = self.groups.outline.locate(self.groups.cursor)
        self.dashboard.choose_action(
            Marks(set(self.dashboard.source.paths(self.groups.found[path[0]].ids)))
        )

    @property
    def _sorting(self) -> Sorting:
        known = {order: largest for order, (_, largest) in ORDERS.items()}
        return Sorting(known, *self.dashboard.orders.get("failures", ("number", False)))

    def action_sort(self) -> None:
        """Choose the order of the groups."""
        ask_order(self.dashboard, "failures", self._sorting, self._regroup)

    def _regroup(self) -> None:
        now = self._sorting
        found = clusters(self._failed or [], self.by, now.order, reverse=now.reverse)
        self.groups.show(found)
        super().update()

    def _read(self) -> None:
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
            with open_store(home, read_only=True) as store, database_errors(home):
                found = activity.failed(store, jobs, MOST)
        except D0Error as error:
            self.dashboard.post_message(
                ThreadResult(partial(self.dashboard.show_notice, str(error)))
            )
            return
        self.dashboard.post_message(ThreadResult(partial(self._take, found)))

    def _take(self, found: list[activity.Failed]) -> None:
        self._read_at = time.monotonic()
        if self.is_mounted and found != self._failed:
            self._failed = found
            self.groups.nothing = f"no package of {foreign(self.job or 'these jobs')} has failed"
            self._regroup()
