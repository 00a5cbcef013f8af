"""Placement of packages that take no slot: they wait for inputs, or only deliver outputs."""

from collections.abc import Mapping, Sequence

from d0ctl.schedule.choice import EARLY, OUTPUTS, Decision, NodeChoice
from d0ctl.schedule.resources import NodeRoom, Requirement, suited

MOST_OPEN = 64
"""The most packages that wait for inputs on a node, and the most that only deliver outputs there.

Each of them is a process.
"""


def place_open(
    nodes: Sequence[NodeRoom],
    requirement: Requirement,
    packages: Sequence[int],
    bytes_of: Mapping[int, Mapping[int, int]],
) -> list[Decision]:
    """Give each package to the node that has most of its inputs, then to the idlest.

    Packages that wait and packages that deliver are counted apart: one may wait for what another
    delivers, and would wait forever if there were no room for that one.
    """
    fits = [
        node
        for node in suited(requirement, nodes)
        if node.on_trial is None and (requirement.stay or not node.disk_short)
    ]
    places = {
        node.id: MOST_OPEN - (node.delivering if requirement.stay else node.open) for node in fits
    }
    decisions = []
    rule = OUTPUTS if requirement.stay else EARLY
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
        here = None if requirement.stay else float(there.get(node.cluster, 0))
        why = NodeChoice(requirement.id, node.id, rule, len(fits), len(fits), mine=here)
        decisions.append(Decision(package, node.id, carried, why=why))
    return decisions
