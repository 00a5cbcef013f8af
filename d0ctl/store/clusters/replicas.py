"""Further copies of files that many packages will read, and why they were made."""

from collections.abc import Collection
from typing import NamedTuple

from d0ctl.schedule.moves.replicas import LEAST_READERS, HotFile, Replica, replicas
from d0ctl.schedule.resources import NodeRoom, suited
from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes import placement
from d0ctl.store.nodes.catalogue import Catalogue, requirement_of

MOST_STAGES = 50
"""How many stages with waiting packages are considered, those of the most urgent jobs first."""

MOST_FILES = 50
"""How many inputs of each: those of a few of its last packages, as all read the hot files."""

MOST_LOOKED_AT = 20
"""How many of these files in all, the largest first."""

MOST_COUNTED = 2_000
"""How many readers of a file are considered, the youngest first."""

LEAST_BYTES = 1_000_000
"""Smaller files are copied soon enough when a reader has its node."""


class SpreadCopy(NamedTuple):
    """A copy that was begun before a package was sent to its cluster."""

    cluster: str
    at: float
    readers: int
    work_s: float
    takes_s: float


def spread(store: Store, busy: Collection[int], *, now: float) -> list[Replica]:
    """Request further copies of files that many packages will read; return those.

    `busy` are clusters that files are streamed from or to.
    """
    store.change("forget_replicas")
    stages = store.rows("hot_stages", least=LEAST_READERS, limit=MOST_STAGES)
    found_files = {
        row["file_id"]: row
        for stage in stages
        for row in store.rows("hot_inputs", stage=stage["id"], least=LEAST_BYTES, limit=MOST_FILES)
    }
    if not found_files:
        return []
    rows = sorted(found_files.values(), key=lambda row: -row["size"])[:MOST_LOOKED_AT]
    nodes, catalogue = placement.nodes(store, now=now), Catalogue(store)
    looked_at = (_hot(store, row, nodes, catalogue) for row in rows)
    hot = [file for file in looked_at if file is not None]
    powers, free = dict[int, float](), dict[int, int]()
    for node in nodes:
        powers[node.cluster] = powers.get(node.cluster, 0.0) + node.cpus * node.speed
        if node.disk_free is not None:
            left = node.disk_free - node.disk_used
            free[node.cluster] = min(left, free.get(node.cluster, left))
    new_replicas = replicas(hot, powers, placement.links(store), free, busy) if hot else []
    for replica in new_replicas:
        store.change("want_replica", file=replica.file, cluster=replica.cluster, now=now)
        store.change(
            "keep_replica",
            file=replica.file,
            cluster=replica.cluster,
            now=now,
            readers=replica.readers,
            work_s=replica.work_s,
            takes_s=replica.takes_s,
        )
    return new_replicas


def _hot(store: Store, row: Row, nodes: list[NodeRoom], catalogue: Catalogue) -> HotFile | None:
    """Return a file with its readers that have not begun; None if not enough is known."""
    readers = store.row("hot_readers", file=row["file_id"], most=MOST_COUNTED)
    if readers is None or not readers["n"] or readers["seconds"] is None:
        return None
    wanted = store.row("requirement_by_id", requirement=readers["requirement_id"])
    assert wanted is not None
    clusters = [copy["cluster_id"] for copy in store.rows("giving_clusters", file=row["file_id"])]
    coming = [copy["cluster_id"] for copy in store.rows("coming_copies", file=row["file_id"])]
    fits = {node.cluster for node in suited(requirement_of(wanted, catalogue), nodes)}
    return HotFile(row["file_id"], row["size"], readers["n"], readers["seconds"], clusters, coming,
                   fits)  # fmt: skip


def of_file(store: Store, file: int) -> list[SpreadCopy]:
    """Return the copies of a file that were begun before a package needed them."""
    return [SpreadCopy._make(row) for row in store.rows("replicas_of_file", file=file)]
