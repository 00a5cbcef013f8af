"""Failures in groups, below the tree of a tall screen."""

import time
from collections.abc import Callable
from functools import partial

from textual import work

from d0ctl.errors import D0Error
from d0ctl.show.drawing import signs
from d0ctl.show.drawing.remark_texts import gist
from d0ctl.show.drawing.signs import Glyphs
from d0ctl.show.drawing.spans import Line, Span, foreign, pad, spread
from d0ctl.store.opening import open_store
from d0ctl.store.sqlite_errors import database_errors
from d0ctl.store.views import activity
from d0ctl.units import count
from d0ctl_tui.app_events import PathClicked, ThreadResult
from d0ctl_tui.draw.row_cells import clock
from d0ctl_tui.read.snapshot import Snapshot
from d0ctl_tui.read.tree_source import Source
from d0ctl_tui.widgets.status_lines import Page

WINDOW, MOST = 20_000, 60
"""How many failed packages are grouped, in 50 ms of a thread, and how many groups shown."""

AGAIN_S = 1.0
"""How long the groups stay unchanged while more packages fail."""

JOB = 24


class FailurePane(Page):
    """Groups of failures of all jobs; a click goes to the latest of a group."""

    def __init__(self, source: Source, snapshot: Callable[[], Snapshot], glyphs: Glyphs) -> None:
        super().__init__("broken", self._list, glyphs)
        self.source = source
        self._snapshot = snapshot
        self.groups: list[activity.FailureGroup] | None = None
        self._numbers: dict[int, int] = {}
        self._read_at = -AGAIN_S

    def renew(self) -> None:
        """Draw again; read again if the number of failures has changed."""
        super().renew()
        if self.display and self.is_mounted:
            self._read_changed()

    def _read_changed(self) -> None:
        needing = self._snapshot().needing
        numbers = {job: phases["failed"] for job, phases in needing.items() if "failed" in phases}
        if numbers == self._numbers and self.groups is not None:
            return
        wait = self._read_at + AGAIN_S - time.monotonic()
        if wait > 0:
            self.set_timer(wait, self._read_changed)
            return
        self._numbers, self._read_at = numbers, time.monotonic()
        if self.source.at is not None:
            read = partial(activity.failure_groups, jobs=list(numbers), window=WINDOW, limit=MOST)
            self._take(self.source.ask(read, []))
        else:
            self._read(list(numbers))

    @work(thread=True, exclusive=True)
    def _read(self, jobs: list[int]) -> None:
        home = self.source.home
        try:
            with open_store(home, read_only=True) as store, database_errors(home):
                found = activity.failure_groups(store, jobs, WINDOW, MOST)
        except D0Error:  # the first line says that nothing can be read
            return
        self.app.post_message(ThreadResult(partial(self._take, found)))

    def _take(self, found: list[activity.FailureGroup]) -> None:
        if self.is_mounted and found != self.groups:
            self.groups = found
            super().renew()

    def click_line(self, number: int, column: int) -> None:
        """Go to the latest package of the group."""
        if self.groups and number < len(self.groups):
            self.post_message(PathClicked(self.groups[number].path))

    def _list(self, columns: int) -> list[Line]:
        if self.groups is None:
            return []
        if not self.groups:
            return [((" no failures to look at", "faint"),)]
        job = min(JOB, max(len(foreign(group.job)) for group in self.groups))
        short = self._snapshot().short_names
        return [self._group(group, job, short, columns) for group in self.groups]

    def _group(
        self, group: activity.FailureGroup, job: int, short: dict[str, str], columns: int
    ) -> Line:
        node = short.get(group.node or "", group.node or "no node")
        where = node if group.nodes < 2 else count(group.nodes, "node")
        left: list[Span] = [
            (f"{self.glyphs.states['failed']}{signs.short(group.n):>5} ", "bad"),
            (pad(foreign(group.job), job), "strong"),
            (f"  {foreign(group.reason or 'unknown')}", "bad"),
            (f"  {foreign(where)}", "plain"),
            (f"  {foreign(gist(group.message))}", "faint"),
        ]
        at = "" if group.ended is None else f"{clock(group.ended, time.time())} "
        return spread(left, [(at, "faint")], columns)
