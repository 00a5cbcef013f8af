"""The command that makes space for a package that waits for disk."""

import math
from collections.abc import Mapping, Sequence

from d0ctl.model import NodeCapacity
from d0ctl.store.clusters.capacity import MB
from d0ctl.store.clusters.cluster_views import clusters
from d0ctl.store.connection import Store
from d0ctl.store.jobs import unneeded_files
from d0ctl.units import format_size


def commands(
    store: Store, nodes: Sequence[NodeCapacity], missing: Mapping[int, int]
) -> tuple[str, ...]:
    """Return the command for the first node of which copies may be removed, by the bytes that each
    lacks; else, if a capacity is too small on a node without packages, the one that raises it.
    """
    for row in nodes:
        if (lacks := missing[row.id]) and unneeded_files.has_spare(store, row.id):
            return (f"d0ctl node free {row.name} {_size(lacks)}",)
    for row in nodes:
        if (lacks := missing[row.id]) and row.cache and not row.disk_used + row.used:
            return (_raise(store, row, lacks),)
    return ()


def _raise(store: Store, row: NodeCapacity, lacks: int) -> str:
    """Return the command that gives the cluster of a node the capacity that it lacks."""
    (view,) = (view for view in clusters(store) if row.name in view.nodes)
    excess = max(0, -(row.disk_free or 0))
    wanted = ((row.cache or 0) + excess + lacks) / (1 - view.software_share)
    return f"d0ctl cluster set {view.name} capacity={_size(wanted)}   # if its disk has the space"


def _size(number: float) -> str:
    return format_size(math.ceil(number / MB) * MB)
