"""Where packages go that take no slot: those that wait for inputs, and those that only deliver."""

from collections.abc import Mapping, Sequence

from d0ctl.schedule.place import Decision, Demand, NodeRoom, suited

MOST_OPEN = 64
"""How many packages may wait for inputs on one node, and how many may only deliver outputs there;
each is a process.
"""


def place_open(
    nodes: Sequence[NodeRoom],
    demand: Demand,
    packages: Sequence[int],
    bytes_of: Mapping[int, Mapping[int, int]],
) -> list[Decision]:
    """Give each package to the node that has most of its inputs, then to the idlest.

    Those that wait and those that deliver are counted apart, as one may wait for what another
    delivers.
    """
    fits = [node for node in suited(demand, nodes) if node.burnt is None]
    places = {node.id: MOST_OPEN - (node.delivering if demand.stay else node.open) for node in fits}
    decisions = []
    for package in packages:
        there = bytes_of.get(package, {})
        node = max(
            (node for node in nodes if places.get(node.id, 0) > 0),
            key=lambda node: (there.get(node.cluster, 0), places[node.id], -node.used / node.cpus),
            default=None,
        )
        if node is None:
            break
        places[node.id] -= 1
        carried = max(there.values(), default=0) - there.get(node.cluster, 0)
        decisions.append(Decision(package, node.id, carried))
    return decisions
