"""The estimated ends of the jobs and stages that are shown."""

from d0ctl.schedule.horizon import Horizon
from d0ctl.store.views.shapes import JobSummary, StageSummary
from d0ctl_tui.read.outline import Path
from d0ctl_tui.read.tree_source import Source


class Estimates:
    """When jobs and stages end, by path: as their details and `eta` say, read when first shown."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._now = 0.0
        self._horizon: Horizon | None = None

    def forget(self, now: float) -> None:
        """Make all estimates again."""
        self._now, self._horizon = now, None

    def of(self, path: Path) -> float | None:
        """Return when a job or stage ends; None if that is unknown, or of the past."""
        if self.source.at is not None:
            return None
        row, job = self.source.row(path), self.source.row(path[:1])
        if not isinstance(job, JobSummary) or job.ended is not None or job.blocked:
            return None
        if self.source.job_hold(path[:1]):
            return None
        if self._horizon is None:
            self._horizon = self.source.horizon(self._now)
        end = self._horizon.end(job.id)
        if isinstance(row, StageSummary):
            end = self._horizon.stage_end(job.id, row.seq)
        return None if end is None else self._now + end.middle
