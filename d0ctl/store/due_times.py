"""Times at which something is due, after the clock was set."""

from d0ctl.store.connection import Store

QUERIES = (
    "advance_tries", "advance_releases", "advance_transfers", "advance_archives",
    "advance_canaries", "advance_notices", "advance_deliveries",
)  # fmt: skip


def advance(store: Store, by_s: float, *, now: float) -> None:
    """Let everything be due as many seconds from `now` as before the clock was set back."""
    for query in QUERIES:
        store.change(query, by_s=by_s, now=now)
