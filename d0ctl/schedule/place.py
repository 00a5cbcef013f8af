"""Which ready package goes to which node, by priority, age, room and where its files lie."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from d0ctl.units import size

AHEAD_S = 0.3
"""How many seconds of short packages a node may have in hand beyond its cpus."""

AHEAD_MOST = 64
"""The most cpus' worth of packages that a node may have in hand beyond its own."""

NOTHING_BROUGHT: "Mapping[int, Brought]" = {}

Rooms: TypeAlias = Mapping[tuple[int, int], int]
"""How many packages more of a stage, named first, a node may take that is not trusted with it."""

NO_BOUNDS: Rooms = {}

UNBOUNDED = 10**9
"""More packages than any node can take."""


@dataclass(frozen=True, slots=True)
class NodeRoom:
    """A node that may take packages: its cpus, those given out, and what it is.

    `bringing` is how many cpus the packages ask for whose inputs are on their way, which take
    none before; `open` is how many packages wait there for inputs that are not made yet, and
    `delivering` how many have nothing left to do there but to deliver their outputs. One that has
    burnt packages of a stage, `burnt`, takes a single one, of that stage if there is any.
    `memory_used` and `disk_used` are what the packages there may take, in bytes; `disk` is the
    size of its disk, and `disk_free` what is free of it, as far as that is known.
    """

    id: int
    name: str
    cluster: int
    cpus: int
    used: int
    memory: int | None = None
    platform: str | None = None
    services: Sequence[str] = ()
    bringing: int = 0
    open: int = 0
    delivering: int = 0
    burnt: int | None = None
    memory_used: int = 0
    disk: int | None = None
    disk_free: int | None = None
    disk_used: int = 0


@dataclass(frozen=True, slots=True)
class Demand:
    """What some packages ask of a node, and how many of them are ready.

    `pace` is how many seconds such a package lately took, None when not known. `software` has
    for each title the platforms that it exists for, None for any. `space` is what it may take of
    the disk: work files and outputs, in bytes. `early` ones start at their
    first input; those that fetch read files that may have to be brought. `avoid` is the node of
    the last attempt, to be left out when another fits; so is `excluded`, which its job leaves to
    packages that have not failed there, if that is where it failed last, `failed_on`. Only the
    node `stay` can take it, as its outputs are there and have only to be delivered. It is
    `trusting` when no node can take it but such that have to prove themselves.
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
    early: bool = False
    fetches: bool = False
    avoid: str | None = None
    failed_on: str | None = None
    excluded: str | None = None
    stay: str | None = None
    stage: int = 0
    job: int = 0
    trusting: bool = False
    space: int | None = None

    def ahead(self, cpus: int) -> int:
        """How many cpus' worth a node with `cpus` may have in hand beyond them.

        Packages that end faster than news of it travels are sent in advance and wait at
        the node for a free cpu.
        """
        if self.pace is None or self.pace > AHEAD_S:
            return 0
        return min(AHEAD_MOST, int(cpus * AHEAD_S / max(self.pace, 0.001)))


@dataclass(frozen=True, slots=True)
class Brought:
    """How many inputs a package has that would be brought, and how many are in which cluster."""

    files: int
    there: Mapping[int, int]

    def lacks(self, cluster: int) -> bool:
        """Whether something would have to be brought to this cluster."""
        return self.there.get(cluster, 0) < self.files


@dataclass(slots=True)
class _Hand:
    """What a node can still take: at once, and as packages whose inputs are brought first.

    Of those a node may have as many cpus' worth in hand as it has cpus, beyond what computes
    there, so that their transfers overlap with that (InGrid, Package Distribution Daemons).
    `bounds` says of some stages how many packages it may take, `others` of all the rest.
    """

    node: NodeRoom
    free: int
    rest: int
    bounds: dict[int, int]
    others: int = UNBOUNDED
    memory: int | None = None
    disk: int | None = None

    def __post_init__(self) -> None:
        node = self.node
        self.memory = None if node.memory is None else node.memory - node.memory_used
        self.disk = None if node.disk_free is None else node.disk_free - node.disk_used

    def holds(self, demand: Demand) -> int:
        """How many packages of a demand its memory and its disk have room for."""
        pairs = ((self.memory, demand.memory), (self.disk, demand.space))
        return min((max(0, left) // asked for left, asked in pairs if asked and left is not None),
                   default=UNBOUNDED)  # fmt: skip

    def ahead(self, demand: Demand) -> int:
        """How many cpus' worth of a demand it may have in hand beyond its cpus."""
        return demand.ahead(self.node.cpus) if self.node.burnt is None else 0

    def most(self, demand: Demand) -> int:
        """How many packages of a demand it can take, whatever their inputs."""
        room = max(self.free, self.rest) if demand.fetches else self.free
        most = max(0, room + self.ahead(demand)) // demand.cpus
        return min(most, self.bound(demand), self.holds(demand))

    def bound(self, demand: Demand) -> int:
        """How many packages of a demand it is trusted with."""
        if demand.trusting and self.node.burnt is None:
            return self.others
        return self.bounds.get(demand.stage, self.others)

    def take(self, demand: Demand, is_brought: bool) -> None:
        """Give a package to the node."""
        self.rest -= demand.cpus
        if self.memory is not None:
            self.memory -= demand.memory or 0
        if self.disk is not None:
            self.disk -= demand.space or 0
        if not is_brought:
            self.free -= demand.cpus
        if demand.stage in self.bounds:
            self.bounds[demand.stage] -= 1
        if self.node.burnt is not None:
            self.bounds, self.others = {}, 0


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
    if demand.stay and node.name != demand.stay:
        return f"its outputs are on `{demand.stay}`, and only have to be delivered"
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
        return f"{size(node.memory)} of memory, {size(demand.memory)} asked for"
    if demand.space and node.disk and demand.space > node.disk:
        return f"a disk of {size(node.disk)}, {size(demand.space)} asked for"
    return None


def suited(demand: Demand, nodes: Iterable[NodeRoom]) -> list[NodeRoom]:
    """The nodes that packages of this demand may go to."""
    fits = [node for node in nodes if misfit(demand, node) is None]
    for name in (demand.excluded, demand.avoid):
        others = [node for node in fits if node.name != name]
        if any(node.burnt is None for node in others):
            fits = others
    return fits


def place(
    nodes: Sequence[NodeRoom],
    demands: Iterable[Demand],
    oldest: Callable[[int, int], Sequence[int]],
    local_bytes: Callable[[Sequence[int]], Mapping[int, Mapping[int, int]]],
    brought: Callable[[Sequence[int]], Mapping[int, Brought]] = lambda packages: NOTHING_BROUGHT,
    bounds: Rooms = NO_BOUNDS,
) -> list[Decision]:
    """Decide for as many packages as there is room, in the order of `demands`.

    `oldest(demand, n)` gives its n oldest ready packages; `local_bytes` tells how many
    bytes of a package's inputs lie in which cluster, `brought` how many files. The work grows
    with the room and the demands that are ready, never with what waits or is done.
    """
    wanted_by = list(demands)
    trust = _by_node(bounds)
    hands = [_hand(node, nodes, wanted_by, trust.get(node.id, {})) for node in nodes]
    decisions: list[Decision] = []
    for demand in wanted_by:
        fitting = {node.id for node in suited(demand, nodes)}
        fits = [hand for hand in hands if hand.node.id in fitting]
        most = sum(hand.most(demand) for hand in fits)
        if not most:
            continue
        packages = oldest(demand.id, min(most, demand.ready))
        bytes_of = local_bytes(packages)
        wanted = brought(packages) if demand.fetches else NOTHING_BROUGHT
        for package in packages:
            places = bytes_of.get(package, {})
            hand = _best(fits, demand, places, wanted.get(package))
            if hand is None and not demand.fetches:
                break
            if hand is not None:
                hand.take(demand, _is_brought(wanted.get(package), hand.node))
                carried = max(places.values(), default=0) - places.get(hand.node.cluster, 0)
                decisions.append(Decision(package, hand.node.id, carried))
    return decisions


def _by_node(bounds: Rooms) -> dict[int, dict[int, int]]:
    found: dict[int, dict[int, int]] = {}
    for (stage, node), most in bounds.items():
        found.setdefault(node, {})[stage] = most
    return found


def _hand(
    node: NodeRoom, nodes: Sequence[NodeRoom], demands: Sequence[Demand], bounds: dict[int, int]
) -> _Hand:
    """A node with what it can take; one that is to be tried gets a package of what it burnt."""
    free, rest = node.cpus - node.used, 2 * node.cpus - node.used - node.bringing
    if node.burnt is None:
        return _Hand(node, free, rest, bounds)
    own = [demand for demand in demands if demand.stage == node.burnt]
    if any(node in suited(demand, nodes) for demand in own):
        return _Hand(node, free, rest, {node.burnt: 1}, others=0)
    return _Hand(node, free, rest, {}, others=1)


def _is_brought(files: Brought | None, node: NodeRoom) -> bool:
    return files is not None and files.lacks(node.cluster)


def _best(
    fits: Sequence[_Hand],
    demand: Demand,
    places: Mapping[int, int],
    files: Brought | None,
) -> _Hand | None:
    """The node with room that has most of the inputs, then the one with most room.

    One that only has room for what is brought while others compute comes last.
    """

    def room(hand: _Hand) -> int:
        left = hand.rest if _is_brought(files, hand.node) else hand.free
        return left + hand.ahead(demand)

    return max(
        (
            hand
            for hand in fits
            if room(hand) >= demand.cpus and hand.bound(demand) > 0 and hand.holds(demand) > 0
        ),
        key=lambda hand: (
            hand.free + hand.ahead(demand) >= demand.cpus,
            places.get(hand.node.cluster, 0),
            room(hand) / hand.node.cpus,
        ),
        default=None,
    )
