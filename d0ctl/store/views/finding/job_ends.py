"""Jobs with the ends that are estimated for them."""

from collections.abc import Sequence

from msgspec.structs import replace

from d0ctl.store.connection import Store
from d0ctl.store.views.job_files import eta
from d0ctl.store.views.shapes import JobSummary


def with_estimates(store: Store, jobs: Sequence[JobSummary], now: float) -> list[JobSummary]:
    """Return jobs, those that go on with their estimated end, as the tree shows it."""
    horizon = eta.horizon(store, now=now)
    ends = {job.id: end.middle for job in jobs if job.ended is None and not job.blocked
            and (end := eta.at(horizon.end(job.id), now)) is not None}  # fmt: skip
    return [replace(job, ended=ends[job.id]) if job.id in ends else job for job in jobs]
