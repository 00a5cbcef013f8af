"""The command that makes space for a package that waits for disk."""

import json
import math
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from d0ctl.model import NodeCapacity
from d0ctl.schedule.resources import misfit
from d0ctl.store.clusters.capacity import MB
from d0ctl.store.clusters.cluster_views import clusters
from d0ctl.store.connection import Store
from d0ctl.store.jobs import unneeded_files
from d0ctl.store.nodes import placement, registry
from d0ctl.store.nodes.catalogue import requirement_of_package, room_of
from d0ctl.store.nodes.standstill import node_views
from d0ctl.units import format_size


def commands(
    store: Store, nodes: Sequence[NodeCapacity], missing: Mapping[int, int], package: int
) -> tuple[str, ...]:
    """Return the command for the first node of which copies may be removed, by the bytes that each
    lacks for a package; else, if a capacity is too small on a node without packages, the one that
    raises it.
    """
    for row in nodes:
        if (lacks := missing[row.id]) and unneeded_files.has_spare(store, row.id):
            return (f"d0ctl node free {row.name} {_size(lacks)}",)
    for row in nodes:
        if (lacks := missing[row.id]) and row.cache and not row.disk_used + row.used:
            return (raised_capacity(store, row, lacks, package),)
    return ()


def stays_short(store: Store, nodes: Sequence[NodeCapacity]) -> bool:
    """Return whether no package that ends could make space in the caches of these nodes."""
    full = {view.name for view in node_views(store) if view.node.cache_left is not None}
    return all(row.name in full for row in nodes)


def raised_capacity(store: Store, row: NodeCapacity, lacks: int, package: int) -> str:
    """Return the command that gives the cluster of a node the capacity that it lacks.

    That is for all ready packages whose disk does not fit there now, and for this package; only for
    this one if its disk is too small for all.
    """
    (view,) = (view for view in clusters(store) if row.name in view.nodes)
    left, room = max(0, row.disk_free or 0), room_of(row)
    waiting = [wanted for wanted in placement.requirements(store)
               if (wanted.space or 0) > left
               and misfit(replace(wanted, space=None), room) is None]  # fmt: skip
    number = sum(wanted.ready for wanted in waiting)
    needs = sum(wanted.ready * (wanted.space or 0) for wanted in waiting)
    own = requirement_of_package(store, package).id
    if own not in [wanted.id for wanted in waiting]:  # it is short of space for its inputs
        number, needs = number + 1, needs + lacks + left
    used, disk = view.cached or 0, _disk_total(store, row)
    if disk is not None and used + needs > disk:
        number, needs = 1, lacks + left
    packages = "one package" if number == 1 else f"{number:,} packages"
    size = _size((used + needs) / (1 - view.software_share))
    why = f"for {packages}, if its disk has the space"
    return f"d0ctl cluster set {view.name} capacity={size}   # {why}"


def _disk_total(store: Store, row: NodeCapacity) -> int | None:
    """Return the size of the disk of a node, whatever the capacity; None if it is unknown."""
    total: int | None = json.loads(registry.named(store, row.name).facts or "{}").get("disk_total")
    return total


def _size(number: float) -> str:
    return format_size(math.ceil(number / MB) * MB)
