"""When and where attempts ran, for plots over time."""

from msgspec import Struct

from d0ctl.store.connection import Store
from d0ctl.store.nodes.holder import as_heard

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
    suspended: float = 0.0
    """For how many seconds it was suspended, until it last continued."""
    suspended_since: float | None = None
    """Since when it is suspended; None if it is not."""
    contact_lost: float | None = None
    """Since when its node did not answer, if nobody knows when it ended."""
    last_heard: float | None = None
    """When nodes were heard last, if no process drives packages: it ran until then at least."""

    @property
    def is_going(self) -> bool:
        """Whether it has not ended, as far as is known."""
        return self.ended is None and self.contact_lost is None

    def until(self, now: float) -> float:
        """Return until when it may have taken a slot: now if it still does, as far as is known."""
        end = self.ended if self.contact_lost is None else self.contact_lost
        if end is None and self.last_heard is not None:
            end = max(self.last_heard, self.launched, self.started or 0.0)
        return now if end is None else end

    def ran(self, now: float) -> float | None:
        """Return for how many seconds it has run; None if it has not, or nobody knows that."""
        if self.started is None or self.contact_lost is not None or self.outcome == "lost":
            return None
        end = self.until(now) if self.suspended_since is None else self.suspended_since
        return end - self.started - self.suspended


def latest(store: Store, job: int | None, limit: int = MOST) -> list[AttemptSpan]:
    """Return the last attempts, and all that have not ended, of all jobs or of one, by launch."""
    first = store.value("first_of_last_attempts", limit=limit)
    rows = store.rows("attempt_spans", first=first, job=job)
    return as_heard(store, AttemptSpan, rows)
