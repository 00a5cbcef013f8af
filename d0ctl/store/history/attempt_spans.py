"""When and where attempts ran, for plots over time."""

from msgspec import Struct

from d0ctl.store.connection import Store
from d0ctl.store.rows import make

MOST = 5_000
"""How many attempts are read besides those that run, the last ones; this takes 30 ms."""


class AttemptSpan(Struct, frozen=True):
    """An attempt on its node; without an end it is still going on."""

    path: str
    stage: int
    line: int
    node: str
    launched: float
    started: float | None
    ended: float | None
    outcome: str | None
    reason: str | None
    took: float = 1.0
    """How many slots of its node it took while it ran."""
    node_slots: int | None = None
    """How many slots its node has; None if that is not known any more."""

    def seconds(self, now: float) -> float:
        """Return how long it has taken, from its launch."""
        return (now if self.ended is None else self.ended) - self.launched


def latest(store: Store, job: int | None, limit: int = MOST) -> list[AttemptSpan]:
    """Return the last attempts, and all that have not ended, of all jobs or of one, by launch."""
    first = store.value("first_of_last_attempts", limit=limit)
    rows = store.rows("attempt_spans", first=first, job=job)
    return [make(AttemptSpan, row) for row in rows]
