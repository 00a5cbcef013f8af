"""The end of a job or stage, from the pace of its packages and the number of slots."""

from collections.abc import Iterable

from msgspec import Struct

from d0ctl.store.tasks.views import TaskJob
from d0ctl.store.views.shapes import JobSummary, StageSummary
from d0ctl_tui.read.outline import Path
from d0ctl_tui.read.tree_source import PAGE, Source

ENDED = frozenset({"done", "failed", "canceled", "dropped"})


class Share(Struct, frozen=True):
    """A stage: how many packages can still run, how long one takes, and its CPUs."""

    left: int
    pace: float | None
    cpus: int = 1


class Estimate(Struct, frozen=True):
    """Seconds left; a lower bound if some stage's pace is unknown."""

    seconds: float
    at_least: bool = False


def remaining(shares: Iterable[Share], slots: int) -> Estimate | None:
    """Return the time left if all slots work on it; None if nothing is known or left."""
    work, longest, unknown, known = 0.0, 0.0, False, False
    for share in shares:
        if not share.left:
            continue
        if share.pace is None:
            unknown = True
            continue
        known = True
        work += share.left * share.pace * share.cpus
        longest = max(longest, share.pace)
    if not known or slots <= 0:
        return None
    return Estimate(max(work / slots, longest), unknown)


class Estimates:
    """The estimates of jobs and stages by path, each made when it is first shown."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._known: dict[Path, Estimate | None] = {}

    def forget(self) -> None:
        """Make all estimates again."""
        self._known.clear()

    def of(self, path: Path, slots: int) -> Estimate | None:
        """Return the estimate of a job or stage; None if there is nothing to estimate."""
        if path not in self._known:
            self._known[path] = self._make(path, slots)
        return self._known[path]

    def _make(self, path: Path, slots: int) -> Estimate | None:
        row, job = self.source.row(path), self.source.row(path[:1])
        if not isinstance(job, JobSummary) or job.ended is not None or job.blocked:
            return None
        paces = self.source.paces(job.id)
        stages = [row] if isinstance(row, StageSummary) else self._stages(path)
        shares = []
        for stage in stages:
            left = sum(n for phase, n in stage.counts.items() if phase not in ENDED)
            pace = paces.get(stage.id)
            shares.append(Share(left, pace.seconds, pace.cpus) if pace else Share(left, None))
        if isinstance(job, TaskJob) and job is row and job.task.files.get("ready"):
            shares.append(Share(1, None))  # it makes more packages
        return remaining(shares, slots)

    def _stages(self, path: Path) -> list[StageSummary]:
        found = (self.source.row((*path, i)) for i in range(min(PAGE, self.source.size(path))))
        return [stage for stage in found if isinstance(stage, StageSummary)]
