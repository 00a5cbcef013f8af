"""Times at which something is due, and how long packages may yet take."""

from d0ctl.store.connection import Row, Store

QUERIES = (
    "advance_tries", "advance_releases", "advance_transfers", "advance_archives",
    "advance_canaries", "advance_notices", "advance_deliveries",
)  # fmt: skip

OVERDUE = 0.1
"""What a package that takes longer than expected may yet take, as a part of what it took."""


def advance(store: Store, by_s: float, *, now: float) -> None:
    """Let everything be due as many seconds from `now` as before the clock was set back."""
    for query in QUERIES:
        store.change(query, by_s=by_s, now=now)


def left_s(row: Row, now: float) -> float:
    """How long a package may yet take; one that takes longer than expected, a part of it."""
    passed = max(0.0, now - float(row["changed"]))
    expected = None if row["seconds"] is None else float(row["seconds"]) / float(row["speed"])
    if row["queued"]:
        return expected or 0.0
    if row["eta"] is not None:
        return max(0.0, float(row["eta"]) - now)
    return passed if expected is None else max(expected - passed, OVERDUE * passed)
