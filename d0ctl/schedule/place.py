"""Placement of ready packages on nodes, by priority, age, free CPUs and location of files."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct, field

from d0ctl.schedule.quota import UNBOUNDED, Quota
from d0ctl.units import size

AHEAD_S = 0.3
"""How many seconds' worth of short packages a node may get beyond its free CPUs."""

AHEAD_MOST = 64
"""The most CPUs' worth of packages that a node may get beyond its own."""

NOTHING_BROUGHT: "Mapping[int, Brought]" = {}

Rooms: TypeAlias = Mapping[tuple[int, int], int]
"""How many more packages each suspect may take of a stage, by (stage, node)."""

NO_BOUNDS: Rooms = {}


class NodeRoom(Struct, frozen=True):
    """A node that may take packages: what it has, and what is given out.

    `used` are the CPUs of the packages there; `bringing` the CPUs of packages whose inputs are on
    their way, which take none before. `open` packages wait there for inputs that are not made
    yet, `delivering` ones have only to deliver their outputs. A drained node that is tried again
    takes a single package: of the stage `on_trial` if one is ready, else of any other.
    `memory_used` and `disk_used` are what the packages there may use, in bytes; `disk` is the
    size of the disk, `disk_free` what is free of it, None where that is not known.
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
    on_trial: int | None = None
    memory_used: int = 0
    disk: int | None = None
    disk_free: int | None = None
    disk_used: int = 0


class Requirement(Struct, frozen=True):
    """What alike packages request of a node, and how many of them are ready.

    `pace` is how many seconds such a package took lately, None if not known. `software` has for
    each title the platforms that it exists for, None for any. `space` is what a package may use
    of the disk: work files and outputs, in bytes. `early` packages start at their first input;
    those with `fetches` read files that may have to be brought.

    `failed_on` is the node of the last failure; it is `excluded` if the job excludes it. That
    node and `avoid` are left out when another fits. Only the node `stay` can take packages whose
    outputs are there and have only to be delivered. They are `trusting` when all nodes that fit
    are suspects: then these may take them.
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
        """Return how many CPUs' worth a node with `cpus` may get beyond them.

        Packages that take less time than a message and the next launch are sent in advance, and
        wait at the node for a free CPU.
        """
        if self.pace is None or self.pace > AHEAD_S:
            return 0
        return min(AHEAD_MOST, int(cpus * AHEAD_S / max(self.pace, 0.001)))


class Brought(Struct, frozen=True):
    """How many inputs of a package may have to be brought, and how many each cluster has."""

    files: int
    there: Mapping[int, int]

    def lacks(self, cluster: int) -> bool:
        """Return whether an input would have to be brought to this cluster."""
        return self.there.get(cluster, 0) < self.files


class _Hand(Struct):
    """What a node can still take during one pass.

    `free` CPUs for packages that start at once, `rest` for those whose inputs are brought first:
    of these it may have as many CPUs' worth as it has CPUs beyond the packages that compute, so
    that transfers overlap with computing (InGrid, Package Distribution Daemons). `bounds` limits
    the number of packages by stage, `others` that of all other stages.
    """

    node: NodeRoom
    free: int
    rest: int
    bounds: dict[int, int]
    others: int = UNBOUNDED
    memory: int | None = None
    disk: int | None = None
    extra: int = 0
    """CPUs' worth of the requirement in turn that it may get beyond its CPUs."""

    def __post_init__(self) -> None:
        node = self.node
        self.memory = None if node.memory is None else node.memory - node.memory_used
        self.disk = None if node.disk_free is None else node.disk_free - node.disk_used

    def holds(self, requirement: Requirement) -> int:
        """Return for how many packages with a requirement its memory and its disk suffice."""
        if not requirement.memory and not requirement.space:
            return UNBOUNDED
        pairs = ((self.memory, requirement.memory), (self.disk, requirement.space))
        return min((max(0, left) // asked for left, asked in pairs if asked and left is not None),
                   default=UNBOUNDED)  # fmt: skip

    def turn_to(self, requirement: Requirement) -> None:
        """Give out packages of this requirement from now on."""
        self.extra = requirement.ahead(self.node.cpus) if self.node.on_trial is None else 0

    def most(self, requirement: Requirement) -> int:
        """Return how many packages of a requirement it can take, whatever their inputs."""
        room = max(self.free, self.rest) if requirement.fetches else self.free
        most = max(0, room + self.extra) // requirement.cpus
        return min(most, self.bound(requirement), self.holds(requirement))

    def bound(self, requirement: Requirement) -> int:
        """Return how many packages with a requirement it may take as a suspect."""
        if requirement.trusting and self.node.on_trial is None:
            return self.others
        return self.bounds.get(requirement.stage, self.others)

    def take(self, requirement: Requirement, is_brought: bool) -> None:
        """Give a package to the node."""
        self.rest -= requirement.cpus
        if self.memory is not None:
            self.memory -= requirement.memory or 0
        if self.disk is not None:
            self.disk -= requirement.space or 0
        if not is_brought:
            self.free -= requirement.cpus
        if requirement.stage in self.bounds:
            self.bounds[requirement.stage] -= 1
        if self.node.on_trial is not None:
            self.bounds, self.others = {}, 0


class Decision(Struct, frozen=True):
    """This package goes to this node; `cost` is how many bytes must be carried there."""

    package: int
    node: int
    cost: int


def misfit(requirement: Requirement, node: NodeRoom) -> str | None:
    """Return why packages with a requirement can never run on a node; None if they can."""
    if requirement.nodes and node.name not in requirement.nodes:
        return "not in its node list"
    if requirement.stay and node.name != requirement.stay:
        return f"its outputs are on `{requirement.stay}`, and only have to be delivered"
    if node.name in requirement.exclude_nodes:
        return "excluded by the package"
    if requirement.platform and requirement.platform != node.platform:
        return f"platform {node.platform or 'unknown'}, not {requirement.platform}"
    for title, platforms in requirement.software.items():
        if platforms is not None and node.platform not in platforms:
            return f"no software {title} for platform {node.platform or 'unknown'}"
    for service in requirement.needs:
        if service not in node.services:
            return f"no service {service}"
    if requirement.cpus > node.cpus:
        return f"{node.cpus} CPUs, needs {requirement.cpus}"
    if requirement.memory and node.memory and requirement.memory > node.memory:
        return f"{size(node.memory)} of memory, needs {size(requirement.memory)}"
    if requirement.space and node.disk and requirement.space > node.disk:
        return f"a disk of {size(node.disk)}, needs {size(requirement.space)}"
    return None


def suited(requirement: Requirement, nodes: Iterable[NodeRoom]) -> list[NodeRoom]:
    """Return the nodes that packages with a requirement may go to."""
    fits = [node for node in nodes if misfit(requirement, node) is None]
    for name in (requirement.excluded, requirement.avoid):
        others = [node for node in fits if node.name != name]
        if any(node.on_trial is None for node in others):
            fits = others
    return fits


def lead_s(nodes: Iterable[NodeRoom], requirements: Sequence[Requirement]) -> float:
    """Return for how many seconds all nodes have work in advance.

    It is 0 if one has not that could run a package of these requirements, or if the pace of one of
    these is not known.
    """
    paces = [requirement.pace for requirement in requirements if requirement.pace is not None]
    if not requirements or len(paces) < len(requirements):
        return 0.0
    least = math.inf
    for node in nodes:
        ahead = max(0, node.used - node.cpus) / node.cpus
        if ahead or any(misfit(requirement, node) is None for requirement in requirements):
            least = min(least, ahead)
        if not least:
            return 0.0
    return 0.0 if math.isinf(least) else least * min(paces)


def place(
    nodes: Sequence[NodeRoom],
    requirements: Iterable[Requirement],
    oldest: Callable[[int, int], Sequence[int]],
    local_bytes: Callable[[Sequence[int]], Mapping[int, Mapping[int, int]]],
    brought: Callable[[Sequence[int]], Mapping[int, Brought]] = lambda packages: NOTHING_BROUGHT,
    bounds: Rooms = NO_BOUNDS,
    quota: Quota | None = None,
) -> list[Decision]:
    """Decide for as many packages as can be taken, in the order of `requirements`.

    `oldest(requirement, n)` returns its n oldest ready packages, `local_bytes` how many bytes of a
    package's inputs each cluster has, `brought` how many files; `quota` limits how many packages
    of stages and jobs start. The work grows with the free
    CPUs and the ready requirements, never with the number of packages that wait or are done.
    """
    wanted_by = list(requirements)
    trust = _by_node(bounds)
    quota = quota or Quota()
    hands = [_hand(node, nodes, wanted_by, trust.get(node.id, {})) for node in nodes]
    decisions: list[Decision] = []
    for requirement in wanted_by:
        fitting = {node.id for node in suited(requirement, nodes)}
        fits = [hand for hand in hands if hand.node.id in fitting]
        for fitting_hand in fits:
            fitting_hand.turn_to(requirement)
        most = sum(hand.most(requirement) for hand in fits)
        most = min(most, quota.left(requirement.stage, requirement.job))
        if most <= 0:
            continue
        packages = oldest(requirement.id, min(most, requirement.ready))
        bytes_of = local_bytes(packages)
        wanted = brought(packages) if requirement.fetches else NOTHING_BROUGHT
        for package in packages:
            places = bytes_of.get(package, {})
            hand = _best(fits, requirement, places, wanted.get(package))
            if hand is None and not requirement.fetches:
                break
            if hand is not None:
                hand.take(requirement, _is_brought(wanted.get(package), hand.node))
                quota.take(requirement.stage, requirement.job)
                carried = max(places.values(), default=0) - places.get(hand.node.cluster, 0)
                decisions.append(Decision(package, hand.node.id, carried))
    return decisions


def _by_node(bounds: Rooms) -> dict[int, dict[int, int]]:
    found: dict[int, dict[int, int]] = {}
    for (stage, node), most in bounds.items():
        found.setdefault(node, {})[stage] = most
    return found


def _hand(
    node: NodeRoom,
    nodes: Sequence[NodeRoom],
    requirements: Sequence[Requirement],
    bounds: dict[int, int],
) -> _Hand:
    """Return what a node can take; one on trial takes a package of the stage that it failed."""
    free, rest = node.cpus - node.used, 2 * node.cpus - node.used - node.bringing
    if node.on_trial is None:
        return _Hand(node, free, rest, bounds)
    own = [requirement for requirement in requirements if requirement.stage == node.on_trial]
    if any(node in suited(requirement, nodes) for requirement in own):
        return _Hand(node, free, rest, {node.on_trial: 1}, others=0)
    return _Hand(node, free, rest, {}, others=1)


def _is_brought(files: Brought | None, node: NodeRoom) -> bool:
    return files is not None and files.lacks(node.cluster)


def _best(
    fits: Sequence[_Hand],
    requirement: Requirement,
    places: Mapping[int, int],
    files: Brought | None,
) -> _Hand | None:
    """Return the node that has most of the inputs, then the one with most CPUs left.

    A node that can only take packages whose inputs are brought while others compute comes last.
    """

    best: _Hand | None = None
    best_rank = (False, 0, 0.0)
    for hand in fits:
        left = hand.rest if _is_brought(files, hand.node) else hand.free
        room = left + hand.extra
        if room < requirement.cpus or hand.bound(requirement) <= 0 or hand.holds(requirement) <= 0:
            continue
        is_free = hand.free + hand.extra >= requirement.cpus
        rank = is_free, places.get(hand.node.cluster, 0), room / hand.node.cpus
        if best is None or rank > best_rank:
            best, best_rank = hand, rank
    return best
