"""The cost of a package on each node that could take it, to explain a decision."""

from collections.abc import Mapping, Sequence

from d0ctl.schedule.costs import Cost, Links
from d0ctl.schedule.node_capacity import Busy, NodeCapacity
from d0ctl.schedule.resources import InputCopies, NodeRoom, Requirement


def costs(
    requirement: Requirement,
    nodes: Sequence[NodeRoom],
    busy: Mapping[int, Sequence[Busy]],
    links: Links,
    places: Mapping[int, int],
    files: InputCopies | None,
) -> dict[str, Cost]:
    """Return the cost by the name of the node, the lowest first."""
    found = {}
    for node in nodes:
        capacity = NodeCapacity(node, node.cpus - node.used, 0, {})
        capacity.set_busy(busy.get(node.id, ()))
        found[node.name] = capacity.cost(requirement, places, files, links)
    return dict(sorted(found.items(), key=lambda pair: pair[1].end_s))
