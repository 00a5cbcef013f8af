"""Actions and failures on all jobs and nodes since a time."""

from msgspec import Struct

from d0ctl.store.connection import Store
from d0ctl.store.rows import make
from d0ctl.store.views.shapes import ActionView


class JobFailures(Struct, frozen=True):
    """Attempts of a job that failed for one reason, and the last of them.

    `packages` had such attempts; `failed` of these are failed, and it was their last attempt.
    """

    job: str
    reason: str | None
    count: int
    packages: int
    failed: int
    nodes: int
    node: str
    last: float
    message: str | None


def actions(store: Store, since: float, limit: int) -> list[ActionView]:
    """Return the last actions of people and of d0ctl, the latest first."""
    return [
        make(ActionView, row) for row in store.rows("logbook_actions", since=since, limit=limit)
    ]


def failures(store: Store, since: float, limit: int) -> list[JobFailures]:
    """Return the failures by job and reason, those with the latest failure first."""
    rows = store.rows("logbook_failures", since=since, limit=limit)
    return [make(JobFailures, row) for row in rows]
