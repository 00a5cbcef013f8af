"""What happened lately that matters to people: failures, their own actions, nodes, ends of jobs."""

from msgspec import Struct

from d0ctl.store.connection import Store
from d0ctl.store.rows import make


class Notable(Struct, frozen=True):
    """A thing that happened: `what` is failure, action, node or job.

    `subject` is a path or name, `state` a state or the verb of an action. `left` packages of an
    ended job have not succeeded.
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


QUERIES = {
    "failure": "notable_failures", "action": "notable_actions", "node": "notable_nodes",
    "job": "notable_jobs",
}  # fmt: skip


def latest(store: Store, limit: int, *, until: float) -> list[Notable]:
    """Return the latest of all kinds until a time, the latest first."""
    events = [
        make(Notable, row, what=what)
        for what, query in QUERIES.items()
        for row in store.rows(query, limit=limit, until=until)
    ]
    events.sort(key=lambda event: event.at, reverse=True)
    return events[:limit]
