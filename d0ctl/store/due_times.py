"""Due times, and how long packages may still take."""

from d0ctl.store.connection import Row, Store

QUERIES = (
    "advance_tries", "advance_releases", "advance_pauses", "advance_transfers",
    "advance_archives", "advance_canaries", "advance_notices", "advance_deliveries",
)  # fmt: skip

OVERDUE = 0.1
"""How long an overdue package may still take, as a fraction of its run time so far."""

DOUBT = 4.0
"""Eight of ten packages are within the range of an estimate. One that takes longer than expected
still takes a fraction of the range, one in so many.
"""

EARLY = 0.1
"""After this part of its run, a package may take twice or half as long as it reports."""

LEAST_PART = 0.001
"""A report is no worse than after this part of a run."""


def advance(store: Store, by_s: float, *, now: float) -> None:
    """Shift all due times, so that each is as far from `now` as before the clock was set back."""
    for query in QUERIES:
        store.change(query, by_s=by_s, now=now)


def left_s(row: Row, now: float) -> float:
    """Return how long a package may still take; if overdue, a fraction of its run time so far.

    If the range of its estimate is narrow, the estimate is trusted up to its last moments.
    """
    passed = max(0.0, now - float(row["since"]))
    expected = None if row["seconds"] is None else float(row["seconds"]) / float(row["speed"])
    if row["queued"]:
        return expected or 0.0
    if row["eta"] is not None:
        return max(0.0, float(row["eta"]) - now)
    if expected is None:
        return passed
    least = OVERDUE * passed
    if row["spread"] is not None and passed < expected + row["spread"] / 2:
        least = min(least, row["spread"] / DOUBT)
    return max(expected - passed, least)


def doubt(began: float, end: float, now: float) -> float:
    """Return by which factor the rest of a run may differ from a progress report.

    After a hundredth of the run it is 11, after a tenth 2, after half 1.2.
    """
    part = max(now - began, 0.0) / max(end - began, 1e-9)
    return 1 + EARLY / max(min(part, 1.0), LEAST_PART)
