"""How fast files go from one cluster to another, as measured by transfers."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from d0ctl.store.connection import Row, Store

if TYPE_CHECKING:
    from d0ctl.schedule.costs import Transfers

HALF_LIFE_S = 3600.0
"""After this time a transfer counts half as much."""


def note(
    store: Store, source: int, node: int, size: int, took_s: float, *, files: int = 1, now: float
) -> None:
    """Record a transfer from one node to another; 0 stands for this machine."""
    if not size or took_s <= 0:
        return
    row = store.row("link_between", source=source, node=node)
    if row is None or row["source_id"] == row["cluster_id"]:
        return
    left = 0.0 if row["at"] is None else 0.5 ** (max(0.0, now - row["at"]) / HALF_LIFE_S)
    link = {
        "files_files": files * files, "files_bytes": files * size, "bytes_bytes": size * size,
        "files_seconds": files * took_s, "bytes_seconds": size * took_s,
    }  # fmt: skip
    sums = {name: float(value) + left * (row[name] or 0.0) for name, value in link.items()}
    store.change("keep_link", source=row["source_id"], cluster=row["cluster_id"], now=now, **sums)


def arriving(store: Store, node: str) -> tuple[float, float] | None:
    """Return the bytes per second at which files came recently to a node's cluster, and the
    seconds of each file besides; None if none came."""
    row = store.row("link_to_node", node=node)
    return None if row is None or row["files_files"] is None else _transfers(row).speed()


def speeds(store: Store) -> Mapping[tuple[int, int], tuple[float, float]]:
    """Return both from one cluster to another, and from all of them to each."""
    return {
        (row["source_id"], row["cluster_id"]): _transfers(row).speed()
        for row in store.rows("link_rates")
    }


def _transfers(row: Row) -> "Transfers":
    from d0ctl.schedule.costs import Transfers  # most commands read no rates

    return Transfers(*(row[name] for name in Transfers.__struct_fields__))
