"""Read pages of the tree in the dashboard's own thread, cached until a change."""

import time
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

from d0ctl.config import Home
from d0ctl.errors import D0Error
from d0ctl.schedule.horizon import NO_HORIZON, Horizon
from d0ctl.schedule.standstill import Cause
from d0ctl.show.cards.jobs import STANDS_STILL, state
from d0ctl.store.connection import Store
from d0ctl.store.history.notable import JobState
from d0ctl.store.nodes.holder import any_driver
from d0ctl.store.opening import open_store
from d0ctl.store.sqlite_errors import database_errors
from d0ctl.store.tasks import views as tasks
from d0ctl.store.views import activity, one_package, outline
from d0ctl.store.views.finding import job_list
from d0ctl.store.views.finding.job_list import JobList
from d0ctl.store.views.job_files import eta
from d0ctl.store.views.shapes import JobSummary, LineSummary, OnlyPackage, PackageRow, StageSummary
from d0ctl.store.views.shapes.of_package import BinaryView
from d0ctl.units import count
from d0ctl_tui.read.outline import Outline, Path
from d0ctl_tui.read.stragglers import Stragglers

T = TypeVar("T")
Row = JobSummary | StageSummary | LineSummary | PackageRow | BinaryView

PAGE = 64
"""How many rows are read at a time."""

LINE = 3
"""The depth of lines, whose packages stay the same: an update or a task makes others."""

PATIENCE_MS = 250
"""How long a read waits for a lock before the known data is shown as stale."""


class Source:
    """Rows by path. If a row can't be read, its last state is shown, and `error` says why."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.error: str | None = None
        self.followed: dict[int, JobState] = {}
        """The jobs that get notices, as they were when last looked at."""
        self.stopped: Mapping[int, str] = {}
        """What stops jobs that stand still although the site works and no person stopped them."""
        self.causes: Mapping[int, Cause] = {}
        """What stops jobs, whether alone, by the site or by a person."""
        self.stragglers = Stragglers()
        self.jobs: array[int] = array("q")
        self.job_list = JobList()
        self.all_jobs = 0
        """How many jobs there are, listed or not; counted while some are hidden."""
        self.at: float | None = None
        """The moment of the past that it shows; None for the present."""
        self._store: Store | None = None
        self._file = 0
        self._pages: dict[tuple[Path, int], list[Row | None]] = {}
        self._old: dict[tuple[Path, int], list[Row | None]] = {}
        self._headways: dict[int, activity.JobRunningProgress] = {}

    def close(self) -> None:
        """Close the connection."""
        if self._store is not None:
            self._store.close()
        self._store, self.at = None, None

    def show(self, store: Store | None, at: float | None) -> None:
        """Read from a connection that reads the past, which it closes; or the present again."""
        self.close()
        self._store, self.at = store, at
        if store is not None:
            self._file = store.version()[0]

    def forget(self) -> None:
        """Read everything again at the next use, and the list of jobs at once."""
        self.error = None
        self._reopen_if_replaced()
        self._old = self._pages or self._old
        self._pages = {}
        self._headways = {}
        self.list_jobs()

    @property
    def hidden(self) -> str:
        """How many jobs are listed of how many, and which, if some are hidden."""
        if not self.job_list.hides:
            return ""
        return f"{len(self.jobs):,} of {count(self.all_jobs, 'job')}: {self.job_list.summary}"

    @property
    def listed(self) -> Collection[int] | None:
        """The listed jobs; None if no job is hidden."""
        return set(self.jobs) if self.job_list.hides else None

    def list_jobs(self) -> None:
        """Read which jobs are listed, and in which order."""
        now = self.at or time.time()
        self.jobs = self.ask(lambda store: self.job_list.ids(store, now), self.jobs)
        if self.job_list.hides:
            self.all_jobs = self.ask(job_list.number, self.all_jobs)

    def _reopen_if_replaced(self) -> None:
        with self._watched(), database_errors(self.home):
            if self._store is not None and self._store.version()[0] != self._file:
                self.close()

    def ask(self, read: Callable[[Store], T], otherwise: T) -> T:
        """Return the result of a read, or a default if the database can't be read."""
        if self.error is not None:
            return otherwise
        with self._watched():
            self._open()
            assert self._store is not None
            with database_errors(self.home), self._store.reading():
                return read(self._store)
        return otherwise

    def row(self, path: Path) -> Row | None:
        """Return the contents of a row; None if it no longer exists."""
        page, at = divmod(path[-1], PAGE)
        rows = self._page(path[:-1], page)
        return rows[at] if at < len(rows) else None

    def size(self, path: Path) -> int:
        """Return how many children a row has."""
        row = self.row(path)
        if isinstance(row, StageSummary):
            return row.lines
        if isinstance(row, JobSummary):
            job = row.id
            return self.ask(lambda store: outline.stage_count(store, job), 0)
        if isinstance(row, LineSummary):
            line = row.id
            return self.ask(lambda store: outline.package_count(store, line), 0)
        if isinstance(row, PackageRow):
            package = row.id
            return self.ask(lambda store: outline.binary_count(store, package), 0)
        return 0

    def fit(self, outline: Outline) -> None:
        """Let expanded jobs and stages have the rows that there are by now."""
        for path in [path for path in outline.expanded() if len(path) < LINE]:
            size = self.size(path)
            if self.error is None:
                outline.resize(path, size)

    def selector(self, path: Path) -> str | None:
        """Return the path as it is typed; for a binary that of its package."""
        job = self.row(path[:1]) if path else None
        if not isinstance(job, JobSummary):
            return None
        numbers = [ordinal + 1 for ordinal in path[1:4]]
        if self.is_only(path[:3]):
            numbers[2:] = [1]
        return "/".join([job.name, *map(str, numbers)])

    def is_followed(self, path: Path) -> bool:
        """Return whether a row is that of a job with notices."""
        row = self.row(path) if self.followed and len(path) == 1 else None
        return isinstance(row, JobSummary) and row.id in self.followed

    def is_task(self, name: str | None) -> bool:
        """Return whether a path is that of a task."""
        if not name or "/" in name:
            return False
        return self.ask(lambda store: bool(tasks.tasks(store, name)), False)

    def tasks_among(self, names: Collection[str]) -> list[str]:
        """Return those of some paths that are of tasks, sorted."""
        none: set[str] = set()
        known = self.ask(lambda store: {task.name for task in tasks.tasks(store)}, none)
        return sorted(known.intersection(names))

    def is_only(self, path: Path) -> bool:
        """Return whether a row shows a line and its only package."""
        return len(path) == 3 and isinstance(self.row(path), OnlyPackage)

    def shown(self, path: Path) -> Path:
        """Return the path of the row that shows a package: a line's if it is the only one."""
        return path[:3] if self.is_only(path[:3]) else path

    def is_blocked(self, path: Path) -> bool:
        """Return whether the line of a row, or its stage, can't go on by itself."""
        row = self.row(path[: 2 if self.is_only(path[:3]) else 3])
        return not isinstance(row, BinaryView | PackageRow | None) and row.blocked

    def job_hold(self, path: Path) -> str:
        """Return whether the job of a row is held or paused, or itself stands still."""
        job = self.row(path[:1])
        if not isinstance(job, JobSummary):
            return ""
        if job.hold or job.pause:
            return "held" if job.hold else "paused"
        is_still = len(path) == 1 and state(job, self.causes.get(job.id)) == STANDS_STILL
        return STANDS_STILL if is_still else ""

    def path_of(self, location: outline.Place) -> Path | None:
        """Return the path of a package; None if its job is not shown."""
        try:
            job = self.jobs.index(location.job)
        except ValueError:
            return None
        return self.shown((job, location.stage - 1, location.line - 1, location.package - 1))

    def paths(self, ids: Sequence[int]) -> list[str]:
        """Return the paths of packages; removed ones are omitted."""
        none: list[str] = []
        return self.ask(lambda store: outline.paths(store, ids), none)

    def horizon(self, now: float) -> Horizon:
        """Return the remaining work of all jobs; nothing is known of it without a daemon."""
        return self.ask(
            lambda store: eta.horizon(store, now=now) if any_driver(store) else NO_HORIZON,
            NO_HORIZON,
        )

    def progress(self, path: Path) -> activity.RunningProgress:
        """Return the progress of the running packages of a job, stage or line."""
        job, row = self.row(path[:1]), self.row(path)
        if not isinstance(job, JobSummary) or not job.counts.keys() & activity.MOVING_ALONG:
            return activity.RunningProgress()
        if job.id not in self._headways:
            none = activity.JobRunningProgress(activity.RunningProgress(), {}, {})
            self._headways[job.id] = self.ask(
                lambda store: activity.running_progress(store, job.id), none
            )
        found = self._headways[job.id]
        match row:
            case tasks.TaskJob():  # files are not packages
                return activity.RunningProgress()
            case StageSummary():
                return found.stages.get(row.id, activity.RunningProgress())
            case LineSummary():
                return found.lines.get(row.id, activity.RunningProgress())
            case PackageRow():
                return activity.RunningProgress()
        return found.job

    def _page(self, parent: Path, page: int) -> Sequence[Row | None]:
        key = parent, page
        if key not in self._pages:
            first = page * PAGE
            chain = [self.row(parent[: depth + 1]) for depth in range(len(parent))]
            self._pages[key] = self.ask(
                lambda store: self._read(store, chain, first), self._old.get(key, [])
            )
        return self._pages[key]

    def _read(self, store: Store, chain: Sequence[Row | None], first: int) -> list[Row | None]:
        last = first + PAGE
        match chain:
            case []:
                ids = self.jobs[first:last]
                found = outline.jobs(store, ids)
                found |= tasks.with_tasks(store, found)
                return [found.get(id) for id in ids]
            case [JobSummary() as job]:
                return [*outline.stages(store, job, first + 1, last)]
            case [JobSummary() as job, StageSummary() as stage]:
                return [*outline.lines(store, job, stage, first + 1, last)]
            case [_, _, LineSummary() as line]:
                return [*outline.packages(store, line.id, first + 1, last)]
            case [*_, PackageRow() as package]:
                return [*one_package.binaries(store, package.id)[first:last]]
        return []

    def _open(self) -> None:
        if self._store is None:
            self._store = open_store(self.home, read_only=True, patience_ms=PATIENCE_MS)
            with database_errors(self.home):
                self._store.make_temporary_tables()
                self._file = self._store.version()[0]

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except D0Error as error:
            self.error = str(error)
            self.close()
