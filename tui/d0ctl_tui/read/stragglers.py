"""The packages that run much longer than expected, and how many are below each row of the tree."""

from collections import Counter
from collections.abc import Iterable, Sequence

from d0ctl.store.connection import Store
from d0ctl.store.views.job_files import eta
from d0ctl.store.views.job_files.eta import Straggler
from d0ctl.store.views.shapes import JobSummary, LineSummary, PackageRow, StageSummary

MOST = 1_000
"""How many stragglers are read: those that have been running for longest."""


class Stragglers:
    """The stragglers of all jobs at one moment, the longest first."""

    def __init__(self, known: Sequence[Straggler] = ()) -> None:
        self._jobs: dict[int, list[Straggler]] = {}
        for package in known:
            self._jobs.setdefault(package.job, []).append(package)
        self._packages = {package.id for package in known}
        self._stages = Counter(package.stage for package in known)
        self._lines = Counter(package.line for package in known)

    def __len__(self) -> int:
        return len(self._packages)

    @property
    def jobs(self) -> set[int]:
        """The jobs that have some."""
        return set(self._jobs)

    def of(self, job: int) -> Sequence[Straggler]:
        """Return those of a job, the longest first."""
        return self._jobs.get(job, ())

    def ids(self, jobs: Iterable[int]) -> set[int]:
        """Return the ids of those of some jobs."""
        return {package.id for job in jobs for package in self.of(job)}

    def below(self, row: object) -> int:
        """Return how many are below a row of the tree, or whether it is one itself."""
        match row:
            case PackageRow():
                return int(row.id in self._packages)
            case LineSummary():
                return self._lines[row.id]
            case StageSummary():
                return self._stages[row.id]
            case JobSummary():
                return len(self.of(row.id))
        return 0


def read(store: Store, now: float) -> Stragglers:
    """Read them."""
    return Stragglers(eta.stragglers(store, None, MOST, now=now))
