"""The commands that raise what people set for nodes and clusters if it rules a package out."""

import json
import math
from collections.abc import Sequence

from msgspec.structs import replace

from d0ctl.model import NodeCapacity
from d0ctl.schedule.resources import Requirement, misfit
from d0ctl.show.why.more_space import raised_capacity
from d0ctl.store.clusters.capacity import MB
from d0ctl.store.connection import Store
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.catalogue import room_of
from d0ctl.units import format_size, size, with_unit


def commands(
    store: Store, rows: Sequence[NodeCapacity], requirement: Requirement, package: int
) -> list[str]:
    """Return the commands after which the first of the nodes that can have enough memory and disk
    can take a package; none if there is no such node.
    """
    without = replace(requirement, memory=None, space=None)
    for row in rows:
        if misfit(without, room_of(row)) is None and (
            found := _of_node(store, row, requirement, package)
        ):
            return found
    return []


def _of_node(store: Store, row: NodeCapacity, requirement: Requirement, package: int) -> list[str]:
    """Return the commands with which a node can take a package if its machine has enough."""
    node, room = registry.named(store, row.name), room_of(row)
    has = json.loads(node.facts or "{}")
    memory, space = requirement.memory or 0, requirement.space or 0
    set_memory, set_disk = node.memory_asked or memory, row.disk or space
    lacks_memory = set_memory < memory <= (has.get("memory") or 0) and not with_unit(set_memory)
    lacks_disk = set_disk < space <= (has.get("disk_total") or space)
    room = replace(room, memory=None) if lacks_memory else room
    room = replace(room, disk=None) if lacks_disk else room
    if node.job or misfit(requirement, room) is not None:
        return []
    found = []
    if lacks_memory:
        wanted = min(math.ceil(memory / MB) * MB, has["memory"])
        found.append(f"d0ctl node set {row.name} memory={format_size(wanted)}"
                     f"   # the machine has {size(has['memory'])}")  # fmt: skip
    if lacks_disk:
        left = max(0, row.disk_free or 0)
        found.append(raised_capacity(store, row, space - left, package))
    return found
