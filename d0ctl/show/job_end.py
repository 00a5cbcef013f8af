"""The end of a job: its status, its incomplete packages and why, remarks on its results."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from d0ctl.model import Counts, Group, Phase, by_status, job_status
from d0ctl.show.drawing.archived import in_archive
from d0ctl.show.drawing.remark_texts import remark
from d0ctl.show.why.causes.failed_since import failed_since
from d0ctl.show.why.common import MOST_READ, shortfalls
from d0ctl.show.why.phases.successful import (
    behind,
    is_barred,
    outdated,
    partial_read,
    read_from_outside,
)
from d0ctl.show.why.phases.waiting import prerequisites_of
from d0ctl.store import Store, stage_order
from d0ctl.store.files import earlier_readers
from d0ctl.store.files.edited_files import done_with_earlier
from d0ctl.store.jobs.retry import at_a_limit
from d0ctl.store.mail import new_events
from d0ctl.store.nodes.standstill import counts_of
from d0ctl.store.views.left_out import short_packages
from d0ctl.store.views.shapes import JobSummary


class Segment(Struct, frozen=True):
    """A package that did not complete."""

    path: str
    phase: str
    why: str


class Ending(Struct, frozen=True):
    """A job in which nothing moves any more; of `incomplete` packages the first are named."""

    name: str
    title: str
    status: Group
    phases: Mapping[str, int]
    submitted: float
    ended: float
    segments: tuple[Segment, ...]
    incomplete: int
    may_retry: bool = True
    """Whether a plain retry is not refused for all of its failed packages."""

    @property
    def packages(self) -> int:
        """How many packages the job has."""
        return sum(self.phases.values())

    def document(self) -> dict[str, Any]:
        """Return the same for scripts."""
        return {
            "status": str(self.status),
            "packages": by_status(self.phases),
            "incomplete": self.incomplete,
            "segments": [
                {"path": segment.path, "phase": segment.phase, "why": segment.why}
                for segment in self.segments
            ],
        }


def needs_a_person(store: Store, job: int) -> bool:
    """Return whether a job has ended without success, and not only as people killed packages."""
    counts = counts_of(store, job)
    is_by_people = counts.get(Phase.CANCELED) and not counts.get(Phase.FAILED)
    return not is_by_people and _status(store, job, counts) is Group.FAILED


def _status(store: Store, job: int, counts: Counts) -> Group:
    return job_status(counts, stage_order.final_counts(store, job).get(job, {}), blocked=True)


def ending(store: Store, job: int) -> Ending | None:
    """Read how a job ended; None if it was removed, or moves again."""
    ended = new_events.job_that_ended(store, job)
    if ended is None:
        return None
    counts = dict(counts_of(store, job))
    parts = new_events.incomplete(store, job, counts)
    failed = [part.id for part in parts if part.phase == "failed"]
    limits = at_a_limit(store.select(failed), None, None, [job])
    return Ending(
        ended.name, ended.title, _status(store, job, counts), counts, ended.submitted,
        ended.ended, tuple(_segment(store, part) for part in parts),
        sum(counts.values()) - counts.get("done", 0), len(limits) < len(failed),
    )  # fmt: skip


def _segment(store: Store, package: new_events.Incomplete) -> Segment:
    why = remark(package.note) or ""
    if package.phase == "waiting":
        prerequisites = prerequisites_of(store, package.id, is_blocked=True)
        why = (
            f"waits for {prerequisites[0].text}"
            if prerequisites
            else "waits for one of its many files"
        )
    elif package.actor:
        why = f"by {package.actor}: {why}" if why else f"by {package.actor}"
    phase = "blocked" if package.phase == "waiting" else package.phase
    return Segment(package.path, phase, why)


def remarks_on(store: Store, job: JobSummary) -> list[str]:
    """Say what its results lack, what is out of date, and which files from outside have changed."""
    found, stale = done_with_earlier(store, job.id), outdated(store, job)
    archive = store.home.archive
    texts = [
        *shortfalls(job.name, short_packages(store, job.id, MOST_READ)),
        *read_from_outside(store, job),
        *partial_read(store, job),
        *behind(store, job),
        *failed_since(store, job.id),
        *stale,
        *earlier_readers.sentences(found, is_said=bool(stale),
                                   archived=is_barred(store, job, stale)),
    ]  # fmt: skip
    return [in_archive(text, archive) for text in texts]
