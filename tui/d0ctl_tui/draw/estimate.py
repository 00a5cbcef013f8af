"""The estimated ends of the jobs and stages that are shown."""

from d0ctl.store.tasks.views import TaskJob
from d0ctl.store.views.finding.job_ends import Estimate, Share, remaining
from d0ctl.store.views.shapes import JobSummary, StageSummary
from d0ctl_tui.read.outline import Path
from d0ctl_tui.read.tree_source import Source


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
        if self.source.job_hold(path[:1]):
            return None
        known = self.source.shares(job.id)
        shares = list(known.values())
        if isinstance(row, StageSummary):
            shares = [known[row.id]] if row.id in known else []
        if isinstance(job, TaskJob) and job is row and job.task.files.get("ready"):
            shares.append(Share(1, None))  # it makes more packages
        return remaining(shares, slots)
