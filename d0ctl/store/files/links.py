"""How fast files go from one cluster to another, as measured by transfers."""

from collections.abc import Mapping

from d0ctl.store.connection import Store

LEAST_BYTES = 1_000_000
"""Smaller transfers say little: most of their time is not spent on bytes."""

LEAST_SLOW_BYTES = 10_000
SLOW_S = 2.0
"""Unless they take as long as this, as over a very slow link."""

HALF_LIFE_S = 3600.0
"""After this time a transfer counts half as much."""


def note(store: Store, source: int, node: int, size: int, took_s: float, *, now: float) -> None:
    """Record a transfer from one node to another; 0 stands for this machine."""
    least = LEAST_BYTES if took_s < SLOW_S else LEAST_SLOW_BYTES
    if size < least or took_s <= 0:
        return
    row = store.row("link_between", source=source, node=node)
    if row is None or row["source_id"] == row["cluster_id"]:
        return
    left = 0.0 if row["at"] is None else 0.5 ** (max(0.0, now - row["at"]) / HALF_LIFE_S)
    store.change(
        "keep_link", source=row["source_id"], cluster=row["cluster_id"], now=now,
        bytes=size + left * (row["bytes"] or 0.0), seconds=took_s + left * (row["seconds"] or 0.0),
    )  # fmt: skip


def arriving(store: Store, node: str) -> float | None:
    """Return the rate in bytes per second at which files came recently to a node's cluster."""
    found: float | None = store.value("rate_to_node", node=node)
    return found


def rates(store: Store) -> Mapping[tuple[int, int], float]:
    """Return the bytes per second from one cluster to another, and from all of them to each."""
    found: dict[tuple[int, int], float] = {}
    for row in store.rows("link_rates"):
        found[row["source_id"], row["cluster_id"]] = row["bytes"] / row["seconds"]
    return found
