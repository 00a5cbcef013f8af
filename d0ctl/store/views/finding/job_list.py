"""Which jobs are listed, and in which order."""

from array import array
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from d0ctl.model import Group, by_status
from d0ctl.store.connection import Store
from d0ctl.store.views import outline
from d0ctl.store.views.finding.job_ends import with_estimates
from d0ctl.store.views.shapes import JobSummary
from d0ctl.units import listed

MOST_SORTED = 1_000
"""More jobs are listed by age only: they would be sorted again after each change."""

DAY_S = 86_400.0

STATES = (Group.FAILED, Group.RUNNING, Group.SUBMITTED, Group.CANCELED, Group.SUCCESSFUL)


def _progress(job: JobSummary) -> float:
    return by_status(job.counts)["successful"] / max(1, job.packages)


ORDERS: Mapping[str, tuple[Callable[[JobSummary], Any], bool]] = {
    "age": (lambda job: job.id, True),
    "name": (lambda job: job.name.casefold(), False),
    "status": (lambda job: STATES.index(job.status), False),
    "progress": (_progress, False),
    "failed": (lambda job: job.counts.get("failed", 0) - job.acknowledged, True),
    "running": (lambda job: by_status(job.counts)["launched"], True),
    "end": (lambda job: job.ended if job.ended is not None else float("inf"), True),
    "priority": (lambda job: job.priority, True),
}
"""What jobs can be sorted by, and whether the largest comes first."""


class JobList(Struct, frozen=True):
    """Which jobs are listed: of one person, not ended ones, ones that did not end long ago."""

    person: str = ""
    active: bool = False
    days: float | None = None
    """Jobs that ended more days ago are hidden."""
    order: str = "age"
    reverse: bool = False

    @property
    def hides(self) -> bool:
        """Whether it hides jobs."""
        return bool(self.person or self.active or self.days is not None)

    @property
    def summary(self) -> str:
        """The jobs that it shows, in words."""
        parts = [f"of {self.person}" if self.person else "", "active" if self.active else ""]
        if self.days is not None and not self.active:
            parts.append(f"not ended {self.days:g} days ago")
        return listed([part for part in parts if part])

    @property
    def showing_all(self) -> "JobList":
        """The same order of all jobs."""
        return replace(self, person="", active=False, days=None)

    def ids(self, store: Store, now: float) -> "array[int]":
        """Return the ids of the jobs in their order; too many are listed by age."""
        since = 0.0 if self.days is None else now - self.days * DAY_S
        rows = store.rows("finding_jobs", person=self.person, active=self.active, since=since)
        job_ids = array("q", (row["id"] for row in rows))
        if self.order != "age" and len(job_ids) <= MOST_SORTED:
            key, largest_first = ORDERS[self.order]
            jobs = outline.jobs(store, job_ids)
            known = [jobs[id] for id in job_ids if id in jobs]
            if self.order == "end":
                known = with_estimates(store, known, now)
            ordered = sorted(known, key=key, reverse=largest_first is not self.reverse)
            return array("q", (job.id for job in ordered))
        if self.order == "age" and self.reverse:
            job_ids.reverse()
        return job_ids


def number(store: Store) -> int:
    """Return how many jobs can be seen."""
    return int(store.value("finding_number_of_jobs"))
