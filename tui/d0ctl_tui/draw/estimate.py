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
        row, job = self.source.row(path), self._going(path)
        if job is None:
            return None
        end = self._known.end(job.id)
        if isinstance(row, StageSummary):
            end = self._known.stage_end(job.id, row.seq)
        return None if end is None else self._now + end.middle

    def least(self, path: Path) -> float | None:
        """Return when the last stage of a job ends that has an estimate; None if none has."""
        job = self._going(path)
        if job is None or (left := self._known.jobs.get(job.id)) is None:
            return None
        ends = [self._known.stage_end(job.id, stage.seq) for stage in left.stages]
        return max((self._now + end.middle for end in ends if end is not None), default=None)

    def _going(self, path: Path) -> JobSummary | None:
        """Return the job of a row if it goes on."""
        job = self.source.row(path[:1])
        if self.source.at is not None or not isinstance(job, JobSummary):
            return None
        stands = job.ended is not None or job.blocked or self.source.job_hold(path[:1])
        return None if stands else job

    @property
    def _known(self) -> Horizon:
        if self._horizon is None:
            self._horizon = self.source.horizon(self._now)
        return self._horizon
