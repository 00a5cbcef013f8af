"""What happened lately that matters to people: failures, their own actions, nodes, ends of jobs."""

import json
from collections.abc import Mapping

from msgspec import Struct

from d0ctl.model import Counts, Phase
from d0ctl.store.connection import Store
from d0ctl.store.rows import make


class Notable(Struct, frozen=True):
    """A thing that happened: `what` is failure, action, node or job.

    `subject` is a path or name, `state` a state or the verb of an action. Of an ended job, `left`
    packages have not succeeded, `failed` ones have failed, and its results lack `dropped` lines.
    """

    what: str
    at: float
    subject: str
    state: str
    node: str | None = None
    reason: str | None = None
    actor: str | None = None
    note: str | None = None
    is_tried_again: bool = False
    left: int = 0
    failed: int = 0
    dropped: int = 0

    @property
    def counts(self) -> Counts:
        """How many packages of an ended job have failed, as counts."""
        return {Phase.FAILED: self.failed}


QUERIES = {
    "failure": "notable_failures", "action": "notable_actions", "node": "notable_nodes",
    "job": "notable_jobs",
}  # fmt: skip


def latest(store: Store, limit: int, *, until: float) -> list[Notable]:
    """Return the latest of all kinds until a time, the latest first."""
    events = [
        make(Notable, row, what=what)
        for what, query in QUERIES.items()
        for row in store.rows(query, limit=limit, since=0.0, until=until)
    ]
    events.sort(key=lambda event: event.at, reverse=True)
    return events[:limit]


def ended_jobs(store: Store, since: float, limit: int, *, until: float) -> list[Notable]:
    """Return the jobs that ended last, the latest first."""
    rows = store.rows("notable_jobs", since=since, limit=limit, until=until)
    return [make(Notable, row, what="job") for row in rows]


def ends(store: Store, job: int, limit: int) -> list[Notable]:
    """Return the ends of a job: several if it went on after one, the last first."""
    return [
        make(Notable, row, what="job") for row in store.rows("ends_of_job", job=job, limit=limit)
    ]


class JobState(Struct, frozen=True):
    """A job: how many of its packages are done and failed, when it ended, and what is new in it.

    `new_failure` is its first one since the last look, `last_event` the latest event at this look.
    """

    id: int
    name: str
    ended: float | None
    packages: int
    done: int
    failed: int
    new_failure: str
    last_event: int = 0
    is_reported: bool = False
    """Whether a failure has been reported already."""


def states(store: Store, jobs: Mapping[int, int]) -> list[JobState]:
    """Return the present states of jobs by their ids, with what is new after an event of each.

    Removed jobs are omitted.
    """
    return [make(JobState, row) for row in store.rows("followed_jobs", jobs=json.dumps(jobs))]
