"""Actions and failures on all jobs and nodes since a time."""

from msgspec import Struct

from d0ctl.store.connection import Store
from d0ctl.store.rows import make
from d0ctl.store.views.shapes import ActionView

LATEST_S = 7 * 86400.0
"""How long before its recording an attempt can have ended: longer than most nodes are down."""


class JobFailures(Struct, frozen=True):
    """Attempts of a job that failed for one reason.

    `packages` had such attempts; `failed` of these are failed, and it was their last attempt; some
    of these failures are `acknowledged`. `failed_again` are failed by a later attempt, for another
    reason or elsewhere. Node and message are those of the last of these attempts;
    if there is none, of the last attempt.
    """

    job: str
    reason: str | None
    count: int
    packages: int
    failed: int
    failed_again: int
    acknowledged: int
    nodes: int
    node: str
    last: float
    recorded: float
    """When d0ctl last learned of one: later than the end if the node was down."""
    message: str | None
    messages: int
    """How many different messages they have."""


def actions(store: Store, since: float, limit: int, *, node: str | None = None) -> list[ActionView]:
    """Return the last actions of people and of d0ctl, or those on a node, the latest first."""
    rows = store.rows("logbook_actions", since=since, limit=limit, node=node)
    return [make(ActionView, row) for row in rows]


def failures(
    store: Store, since: float, limit: int, *, node: str | None = None
) -> list[JobFailures]:
    """Return the failures, or those on a node, by job and reason, the latest first."""
    rows = store.rows("logbook_failures", since=since, late=LATEST_S, limit=limit, node=node)
    return [make(JobFailures, row) for row in rows]
