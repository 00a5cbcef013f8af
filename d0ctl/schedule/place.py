"""Which ready package goes to which node, by priority, age, room and where its files lie."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

AHEAD_S = 0.3
"""How many seconds of short packages a node may have in hand beyond its cpus."""

AHEAD_MOST = 64
"""The most cpus' worth of packages that a node may have in hand beyond its own."""


@dataclass(frozen=True, slots=True)
class NodeRoom:
    """A node that may take packages: its cpus, those given out, and what it is."""

    id: int
    name: str
    cluster: int
    cpus: int
    used: int
    memory: int | None = None
    platform: str | None = None
    services: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Demand:
    """What some packages ask of a node, and how many of them are ready.

    `pace` is how many seconds such a package lately took, None when not known. `software` has
    for each title the platforms that it exists for, None for any.
    """

    id: int
    ready: int
    cpus: int = 1
    memory: int | None = None
    platform: str | None = None
    nodes: Sequence[str] = ()
    exclude_nodes: Sequence[str] = ()
    software: Mapping[str, Collection[str] | None] = field(default_factory=dict)
    needs: Sequence[str] = ()
    pace: float | None = None

    def ahead(self, cpus: int) -> int:
        """How many cpus' worth a node with `cpus` may have in hand beyond them.

        Packages that end faster than news of it travels are sent in advance and wait at
        the node for a free cpu.
        """
        if self.pace is None or self.pace > AHEAD_S:
            return 0
        return min(AHEAD_MOST, int(cpus * AHEAD_S / max(self.pace, 0.001)))


@dataclass(frozen=True, slots=True)
class Decision:
    """This package goes to this node; `cost` is how many bytes must be carried there."""

    package: int
    node: int
    cost: int


def misfit(demand: Demand, node: NodeRoom) -> str | None:
    """Why packages of this demand can never run on the node; None when they can."""
    if demand.nodes and node.name not in demand.nodes:
        return "not in its node list"
    if node.name in demand.exclude_nodes:
        return "excluded by the package"
    if demand.platform and demand.platform != node.platform:
        return f"platform {node.platform or 'unknown'}, not {demand.platform}"
    for title, platforms in demand.software.items():
        if platforms is not None and node.platform not in platforms:
            return f"no software {title} for platform {node.platform or 'unknown'}"
    for service in demand.needs:
        if service not in node.services:
            return f"no service {service}"
    if demand.cpus > node.cpus:
        return f"{node.cpus} cpus, {demand.cpus} asked for"
    if demand.memory and node.memory and demand.memory > node.memory:
        return "too little memory"
    return None


def place(
    nodes: Sequence[NodeRoom],
    demands: Iterable[Demand],
    oldest: Callable[[int, int], Sequence[int]],
    local_bytes: Callable[[Sequence[int]], Mapping[int, Mapping[int, int]]],
) -> list[Decision]:
    """Decide for as many packages as there is room, in the order of `demands`.

    `oldest(demand, n)` gives its n oldest ready packages; `local_bytes` tells how many
    bytes of a package's inputs lie in which cluster. The work grows with the room and the
    demands that are ready, never with what waits or is done.
    """
    free = {node.id: node.cpus - node.used for node in nodes}
    decisions: list[Decision] = []
    for demand in demands:
        fits = [node for node in nodes if misfit(demand, node) is None]
        room = {node.id: free[node.id] + demand.ahead(node.cpus) for node in fits}
        most = sum(max(0, left) // demand.cpus for left in room.values())
        if not most:
            continue
        packages = oldest(demand.id, min(most, demand.ready))
        bytes_of = local_bytes(packages)
        for package in packages:
            places = bytes_of.get(package, {})
            node = _best(fits, room, demand, places)
            if node is None:
                break
            room[node.id] -= demand.cpus
            free[node.id] -= demand.cpus
            carried = max(places.values(), default=0) - places.get(node.cluster, 0)
            decisions.append(Decision(package, node.id, carried))
    return decisions


def _best(
    fits: Sequence[NodeRoom],
    room: Mapping[int, int],
    demand: Demand,
    places: Mapping[int, int],
) -> NodeRoom | None:
    """The node with room that has most of the inputs, then the one with most room."""
    return max(
        (node for node in fits if room[node.id] >= demand.cpus),
        key=lambda node: (places.get(node.cluster, 0), room[node.id] / node.cpus),
        default=None,
    )
