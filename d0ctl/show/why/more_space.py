"""What nodes lack for a package, and the command that makes space if it is disk."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from d0ctl.model import NodeCapacity
from d0ctl.schedule.resources import Requirement, misfit
from d0ctl.store.clusters.capacity import MB
from d0ctl.store.clusters.cluster_views import clusters
from d0ctl.store.connection import Store
from d0ctl.store.jobs import unneeded_files
from d0ctl.store.nodes import placement, registry
from d0ctl.store.nodes.catalogue import requirement_of_package, room_of
from d0ctl.store.nodes.standstill import node_views
from d0ctl.units import count, format_size, size


class Lack(NamedTuple):
    """A resource that is short on a node, and the text about it; of disk, the missing bytes."""

    resource: str
    text: str
    missing: int = 0


def lack(row: NodeCapacity, requirement: Requirement, *, is_last_resort: bool) -> Lack | None:
    """Return which resource of a node is short, memory, GPUs or disk; None if none is."""
    if row.disk_short:
        left = size(max(0, row.disk_reserve - row.disk_short))
        below = f"less than its reserve of {size(row.disk_reserve)}"
        return Lack("disk", f"has {left} of disk left, {below}", row.disk_short)
    memory, used = row.memory, row.memory_used
    asked = requirement.memory or (requirement.memory_expected if used else None)
    if asked and memory and memory - used < asked:
        verb = "needs" if requirement.memory else "it takes about"
        left = size(max(0, memory - used))
        return Lack("memory", f"has {left} of memory left, {verb} {size(asked)}")
    if (free_gpus := row.gpus - row.gpus_used) < requirement.gpus:
        return Lack("GPUs", f"has {count(free_gpus, 'GPU')} left, needs {requirement.gpus}")
    free, promised = row.disk_spare, row.disk_used
    expected = None if is_last_resort and not promised else requirement.space_expected
    space, verb = (expected, "it takes about") if expected else (requirement.space, "needs")
    if space and free is not None and (missing := space - max(0, free - promised)) > 0:
        disk = "disk" if row.cache is None else f"its cache of {size(row.cache)}"
        text = f"has {size(space - missing)} of {disk} left, {verb} {size(space)}"
        return Lack("disk", text, missing)
    return None


def lack_of_inputs(row: NodeCapacity, absent: Mapping[int, int]) -> Lack | None:
    """Return whether the inputs to be brought, with their sizes, fit into the cache of a node."""
    brought = sum(absent.values())
    free = None if row.disk_spare is None else max(0, row.disk_spare - row.disk_used)
    if free is None or brought <= free:
        return None
    disk = "disk" if row.cache is None else f"its cache of {size(row.cache)}"
    text = f"has {size(free)} of {disk} left, its inputs need {size(brought)}"
    return Lack("disk", text, brought - free)


def disk_lack(
    store: Store, row: NodeCapacity, requirement: Requirement, package: int
) -> Lack | None:
    """Return how much disk a node lacks for a package, or for its inputs; None if it has it."""
    found = lack(row, requirement, is_last_resort=True)
    if found is None:
        here = placement.absent_inputs(store, [package]).get(package, {}).get(row.cluster, {})
        found = lack_of_inputs(row, here)
    return found if found is not None and found.missing else None


def commands(
    store: Store, nodes: Sequence[NodeCapacity], missing: Mapping[int, int], package: int
) -> tuple[str, ...]:
    """Return the command for the first node of which enough copies may be removed for what it lacks
    for a package; else, if a capacity is too small on a node without packages, the one that raises
    it.
    """
    for row in nodes:
        copies = unneeded_files.copies_to_remove(store, row.id, lacks := missing[row.id])
        if 0 < lacks <= sum(copy.size for copy in copies):
            return (f"d0ctl node free {row.name} {_size(lacks)}",)
    for row in nodes:
        if (lacks := missing[row.id]) and row.cache and not row.disk_used + row.used:
            return (raised_capacity(store, row, lacks, package),)
    return ()


def stays_short(store: Store, nodes: Sequence[NodeCapacity], missing: Mapping[int, int]) -> bool:
    """Return whether neither a package that ends nor d0ctl could make space in their caches."""
    spare = {view.name: view.node.cache_spare for view in node_views(store)
             if view.node.cache_left is not None}  # fmt: skip
    return all(row.name in spare and missing[row.id] > spare[row.name] for row in nodes)


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
