"""Due times, and how long packages may still take."""

from d0ctl.store.connection import Row, Store

QUERIES = (
    "advance_tries", "advance_releases", "advance_transfers", "advance_archives",
    "advance_canaries", "advance_notices", "advance_deliveries",
)  # fmt: skip

OVERDUE = 0.1
"""How long an overdue package may still take, as a fraction of its run time so far."""


def advance(store: Store, by_s: float, *, now: float) -> None:
    """Shift all due times, so that each is as far from `now` as before the clock was set back."""
    for query in QUERIES:
        store.change(query, by_s=by_s, now=now)


def left_s(row: Row, now: float) -> float:
    """Return how long a package may still take; if overdue, a fraction of its run time so far."""
    passed = max(0.0, now - float(row["changed"]))
    expected = None if row["seconds"] is None else float(row["seconds"]) / float(row["speed"])
    if row["queued"]:
        return expected or 0.0
    if row["eta"] is not None:
        return max(0.0, float(row["eta"]) - now)
    return passed if expected is None else max(expected - passed, OVERDUE * passed)
