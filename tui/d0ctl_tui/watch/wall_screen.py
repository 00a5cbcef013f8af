"""The wall: a tile for each job, for a screen that many people see."""

import math
import time
from collections.abc import Iterable, Sequence

from textual.app import ComposeResult

from d0ctl.schedule.estimates import Range
from d0ctl.schedule.horizon import NO_HORIZON
from d0ctl.show.drawing.spans import Line, fit
from d0ctl.show.why.production import LACKS_FILES
from d0ctl.store.connection import Store
from d0ctl.store.nodes.holder import any_driver
from d0ctl.store.views import activity, browse
from d0ctl.store.views.activity import StageRate
from d0ctl.store.views.job_files import eta
from d0ctl.store.views.shapes import FailureView, JobSummary
from d0ctl.units import count
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.commands import WALL, bindings
from d0ctl_tui.draw import strips, task_rows
from d0ctl_tui.screens.failed.failures import FailuresScreen
from d0ctl_tui.screens.sub import SubScreen
from d0ctl_tui.watch import wall_tiles
from d0ctl_tui.watch.wall_tiles import WallJob
from d0ctl_tui.widgets.status_lines import Page

AGAIN_S = 1.0
"""How often the wall is read while things change."""

STILL_S = 20.0
"""How often the wall is read while nothing changes: estimates go on with the clock."""

MOST_ENDED = 4
"""How many jobs are shown if fewer are active or need a person: the last ended ones."""

MOST = 60
"""How many jobs are shown."""


class WallScreen(SubScreen):
    """A tile for each job that is active or needs a person, and for the last ended ones."""

    BINDINGS = bindings(WALL)
    COMMANDS_HERE = WALL

    def __init__(self, dashboard: AppInterface) -> None:
        super().__init__(dashboard)
        self.page = Page("wall", self._draw, dashboard.glyphs)
        self.page.nothing = "no jobs"
        self.jobs: list[WallJob] = []
        self._is_due, self._read_at = True, 0.0

    def body(self) -> ComposeResult:
        """Yield the tiles."""
        yield self.page

    def on_mount(self) -> None:
        """Read at once, and then at most once a second."""
        self.page.focus()
        self.call_after_refresh(self._read)
        self.set_interval(max(AGAIN_S, self.dashboard.interval), self._read)

    def action_problem(self, by: int) -> None:
        """Leave the wall for the next problem in the tree."""
        self.action_leave()
        self.dashboard.show_problem(by)

    def action_failures(self) -> None:
        """Show all failures, grouped."""
        self.app.push_screen(FailuresScreen(self.dashboard, None, None))

    def action_nodes(self) -> None:
        """Show the nodes."""
        if not self.dashboard.is_past():
            self.dashboard.show_nodes()

    def headline(self, columns: int) -> Line:
        """Return the title, and the nodes that are down."""
        active = sum(wall_job.job.ended is None for wall_job in self.jobs)
        glyphs = self.dashboard.glyphs
        down = wall_tiles.nodes_down(strips.away(self.dashboard.snapshot), glyphs)
        title = ((" wall", "title"), (f"  {count(active, 'active job')}", "faint"), *down)
        return fit(title, columns, ellipsis=glyphs.ellipsis)

    def update(self) -> None:
        """Let the next look read again."""
        self._is_due = True
        self.bands[0].renew()

    def _read(self) -> None:
        if not self._is_due and time.monotonic() < self._read_at + STILL_S:
            return
        self._is_due, self._read_at = False, time.monotonic()
        source = self.dashboard.source
        found = [(path, row) for path in ((number,) for number in range(len(source.jobs)))
                 if isinstance(row := source.row(path), JobSummary)]  # fmt: skip
        found.sort(key=lambda pair: pair[1].ended or math.inf, reverse=True)
        open_jobs = sorted((pair for pair in found if self._is_open(pair[1])),
                           key=lambda pair: pair[1].id not in source.stopped
                           and not source.stragglers.of(pair[1].id)
                           and not _needs_a_person(pair[1]))  # fmt: skip
        closed = [pair for pair in found if not self._is_open(pair[1])]
        shown = [*open_jobs, *closed[: max(0, MOST_ENDED - len(open_jobs))]][:MOST]
        now, none = source.at or time.time(), dict[int, Facts]()
        rows = [row for _, row in shown]
        has_ends = source.at is None
        facts = source.ask(lambda store: _facts(store, rows, now, has_ends=has_ends), none)
        self.jobs = [
            WallJob(row, task_rows.status(row, source.job_hold(path)), source.progress(path),
                    *facts.get(row.id, (None, None, (), None)), row.id in source.followed,
                    task_rows.fault(row) or self._obstacle(row),
                    source.stragglers.of(row.id))
            for path, row in shown
        ]  # fmt: skip
        for band in self.bands:
            band.renew()
        self.page.renew()

    def _is_open(self, job: JobSummary) -> bool:
        """Return whether a job is active, or has ended with something for a person to look at."""
        is_blocked = job.name in self.dashboard.snapshot.stopped_jobs.blocked
        return job.ended is None or _has_failed(job) or is_blocked or task_rows.is_in_vain(job)

    def _obstacle(self, job: JobSummary) -> str:
        """Return what stops a job; empty if nothing does, or its failures do."""
        stopped = self.dashboard.snapshot.stopped_jobs
        if job.name in stopped.blocked:
            return LACKS_FILES
        return self.dashboard.source.stopped.get(job.id, "")

    def _draw(self, columns: int) -> list[Line]:
        rows = self.page.size.height
        now = self.dashboard.source.at or time.time()
        return wall_tiles.lines(self.jobs, columns, rows, now, self.dashboard.glyphs)


Facts = tuple[StageRate | None, Range | None, Sequence[str], FailureView | None]


def _facts(store: Store, jobs: list[JobSummary], now: float, *, has_ends: bool) -> dict[int, Facts]:
    """Return for each job by its id its rate, its end, the nodes that it waits for, and its last
    failure that nobody has acknowledged. Ends of the past are unknown, as the runs that they follow
    from came later, and so are all without a daemon.
    """
    horizon = eta.horizon(store, now=now) if has_ends and any_driver(store) else NO_HORIZON
    found: dict[int, Facts] = {}
    for job in jobs:
        rate, end, trouble = None, None, None
        nodes_down: Sequence[str] = ()
        if job.ended is None:
            rate = _whole(activity.stage_rates(store, job.id, now=now).values())
            end = eta.at(horizon.end(job.id), now)
            nodes_down = horizon.nodes_down(job.id)
        if _has_failed(job):
            latest = browse.failures(store, job.id, job.acknowledged + 1)
            trouble = next((failure for failure in latest if not failure.acknowledged), None)
        found[job.id] = (rate, end, nodes_down, trouble)
    return found


def _has_failed(job: JobSummary) -> bool:
    """Return whether a job has a failure that nobody has acknowledged."""
    return job.counts.get("failed", 0) > job.acknowledged


def _needs_a_person(job: JobSummary) -> bool:
    """Return whether a job belongs before the others on a wall."""
    stuck = job.counts.keys() & {"held", "unreachable"}
    return _has_failed(job) or job.blocked or bool(stuck) or task_rows.is_in_vain(job)


def _whole(rates: Iterable[StageRate]) -> StageRate | None:
    """Return the rate of a job from those of its stages."""
    found = [*rates]
    if not found:
        return None
    seconds = max(rate.seconds for rate in found)
    return StageRate(sum(rate.done for rate in found), sum(rate.failed for rate in found), seconds)
