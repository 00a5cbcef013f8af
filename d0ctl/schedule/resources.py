"""What nodes have, and what packages request of them."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from msgspec import Struct, field

from d0ctl.units import count, duration, size

AHEAD_S = 0.3
"""How many seconds' worth of short packages a node may get beyond its free CPUs."""

AHEAD_MOST = 128
"""The most CPUs' worth of packages that a node may get beyond its own."""

LONG_S = 600.0
"""With `mode: auto` packages that are known to take as long have jobs of their own."""

Rooms: TypeAlias = Mapping[tuple[int, int], int]
"""How many more packages each suspect may take of a stage, by (stage, node)."""

NO_BOUNDS: Rooms = {}


class NodeRoom(Struct, frozen=True):
    """A node that may take packages: its resources, and how much is in use.

    `used` are the CPUs of the packages there, `suspended` those of packages that a person
    suspended, `lasting` those of these and of packages that are not short; `bringing` the CPUs of
    packages whose inputs are on their way, which take none before. `open` packages wait there for
    inputs that are not made yet, `delivering` ones have only to deliver their outputs, `running`
    are all but these. A drained node that is tried again takes a single package: of the stage
    `on_trial` if one is ready, else of any other. `memory_used` and `disk_used` are what the
    packages there may use, in bytes; those of all nodes of its cluster use the same disk. `disk` is
    its size, `disk_free` the free space that they may use, None if unknown; `disk_short` is by how
    much it is below its reserve. `speed` is how many times as fast as a standard node it is. The
    allocation of a pilot ends in `left_s`.
    """

    id: int
    name: str
    cluster: int
    cpus: int
    used: float
    memory: int | None = None
    platform: str | None = None
    services: Sequence[str] = ()
    bringing: float = 0
    open: int = 0
    delivering: int = 0
    running: int = 0
    lasting: float = 0
    suspended: float = 0
    on_trial: int | None = None
    memory_used: int = 0
    disk: int | None = None
    disk_free: int | None = None
    disk_short: int = 0
    disk_used: int = 0
    speed: float = 1.0
    left_s: float | None = None
    gpus: int = 0
    gpus_used: int = 0
    is_for_long: bool = False
    """Whether packages have jobs of a batch system of their own there, and pilots elsewhere."""
    batch: str | None = None
    """The batch system of which it is a pilot, if a job file names all of them by its name."""

    def is_among(self, names: Sequence[str]) -> bool:
        """Return whether names of nodes or batch systems include this node."""
        return self.name in names or (self.batch is not None and self.batch in names)


class Requirement(Struct, frozen=True):
    """The request of similar packages, and how many of them are ready.

    `pace` is the recent run time of such a package in seconds, `seconds` its run time on a standard
    node, None if unknown; `cpu` is the percentage of its `cpus` that it uses. `rank` is the time of
    the longest chain of packages that begins with it. `software` has for each title the
    platforms that it exists for, None for any. `space` is the disk that a package may use: work
    files and outputs, in bytes. `early` packages start at their first input; those with `fetches`
    read files that may have to be copied.

    `failed_on` is the node of the last failure; it is `excluded` if the job excludes it. That
    node and those of `avoid`, by name with the last one first, are left out if another fits, else
    only the last one is if another fits. Only the node `stay` can take packages whose
    outputs are there and only need delivery. `barred` are clusters that are private to
    others, and to whom. `refused` are nodes that the broker of the site refuses, and why, and
    `preferred` says how much it prefers others. They are `trusting` if all suitable nodes
    are suspects: then these may take them. `brought` are the fewest bytes of inputs that such a
    package must bring to clusters whose cache stays full, if that was computed.
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
    seconds: float | None = None
    rank: float = 0.0
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
    cpu: int = 100
    barred: Mapping[int, str] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    preferred: Mapping[str, float] = field(default_factory=dict)

    memory_expected: int | None = None
    """Its memory in earlier runs, if `memory` is not requested."""
    space_expected: int | None = None
    gpus: int = 0
    brought: Mapping[int, int] = field(default_factory=dict)

    @property
    def load(self) -> float:
        """How many CPUs it uses: I/O-bound packages share theirs with others."""
        return self.cpus * self.cpu / 100

    @property
    def is_short(self) -> bool:
        """Whether it takes less time than a message and the next launch."""
        return self.pace is not None and self.pace <= AHEAD_S

    @property
    def is_long(self) -> bool:
        """Whether it is worth a job of a batch system of its own."""
        return self.seconds is not None and self.seconds >= LONG_S

    def run_s(self, speed: float) -> float | None:
        """Return its run time on a node of some speed in seconds; None if unknown."""
        return None if self.seconds is None else self.seconds / speed

    def ahead(self, cpus: float) -> int:
        """Return how many CPUs' worth a node may get beyond its own.

        Short packages are sent in advance, and wait at the node for one of the `cpus` that are
        free or have short packages.
        """
        if self.pace is None or self.pace > AHEAD_S:
            return 0
        cpus = max(0.0, cpus)
        return min(AHEAD_MOST, int(cpus * AHEAD_S / max(self.pace, 0.001)))


class InputCopies(Struct, frozen=True):
    """How many inputs of a package may have to be copied, and how many each cluster has.

    `absent` has the sizes of those that must be brought to a cluster with a `capacity`, by file.
    """

    files: int
    there: Mapping[int, int]
    absent: Mapping[int, Mapping[int, int]] = MappingProxyType({})

    def lacks(self, cluster: int) -> bool:
        """Return whether an input would have to be copied to this cluster."""
        return self.there.get(cluster, 0) < self.files


def misfit(requirement: Requirement, node: NodeRoom) -> str | None:
    """Return why packages with a requirement can never run on a node; None if they can."""
    if requirement.nodes and not node.is_among(requirement.nodes):
        return "not in its node list"
    if requirement.stay and node.name != requirement.stay:
        return f"its outputs are on `{requirement.stay}`, and only have to be delivered"
    if node.cluster in requirement.barred:
        return requirement.barred[node.cluster]
    if requirement.exclude_nodes and node.is_among(requirement.exclude_nodes):
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
    if requirement.gpus > node.gpus:
        return f"{count(node.gpus, 'GPU')}, needs {requirement.gpus}"
    if requirement.space and node.disk and requirement.space > node.disk:
        return f"a disk of {size(node.disk)}, needs {size(requirement.space)}"
    if node.name in requirement.refused:
        return f"refused by the broker: {requirement.refused[node.name]}"
    if node.left_s is not None and (run_s := requirement.run_s(node.speed) or 0.0) > node.left_s:
        return f"{duration(max(0.0, node.left_s))} of its allocation, needs {duration(run_s)}"
    if node.is_for_long and not requirement.is_long and node.name not in requirement.nodes:
        return f"for packages of {duration(LONG_S)} and more: pilots take this one"
    return None


def shape(requirement: Requirement) -> tuple[object, ...]:
    """Return what decides which nodes are suitable: equal for requirements with the same nodes."""
    return (
        requirement.cpus, requirement.memory, requirement.gpus, requirement.space,
        requirement.platform, tuple(requirement.nodes), tuple(requirement.exclude_nodes),
        tuple(requirement.software), tuple(requirement.needs), requirement.avoid,
        requirement.excluded, requirement.stay, tuple(requirement.barred),
        tuple(requirement.refused), requirement.is_long,
    )  # fmt: skip


def suited(requirement: Requirement, nodes: Iterable[NodeRoom]) -> list[NodeRoom]:
    """Return the nodes that packages with a requirement may go to."""
    fits = [node for node in nodes if misfit(requirement, node) is None]
    avoid = (requirement.avoid or "").split()
    for names in ([requirement.excluded], avoid, avoid[:1]):
        others = [node for node in fits if node.name not in names]
        if any(node.on_trial is None for node in others):
            fits = others
    return fits


def lead_s(nodes: Iterable[NodeRoom], requirements: Sequence[Requirement]) -> float:
    """Return for how many seconds all nodes have work.

    It is 0 if one that could run a package of these requirements has none, or if the pace of one of
    these is unknown.
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


LEAST_FREE, LEAST_FREE_PART = 1 << 30, 0.1
"""A disk with fewer bytes free, which are less than this part of it, is nearly full."""


def is_nearly_full(free: int, total: int) -> bool:
    """Return whether a disk has so little free space that packages soon fail there."""
    return free < LEAST_FREE and free < total * LEAST_FREE_PART


SOON_S = 1.0
"""For how long a free CPU is kept for a package whose inputs are brought to its node."""


class Soon(Struct, frozen=True):
    """A package that uses free CPUs of its node in `start_s` seconds, as its inputs arrive then.

    They are kept until a time.
    """

    package: int
    node: int
    job: int
    load: float
    start_s: float
    until: float = 0.0


class Disk(Struct):
    """The free space of the cache of a cluster, which its nodes share, in bytes.

    `brought` are the inputs of the packages of this pass, each copied once, `inputs` their bytes.
    """

    free: int
    brought: set[int] = field(default_factory=set)
    inputs: int = 0

    def takes(self, absent: Mapping[int, int]) -> bool:
        """Return whether these inputs fit, beside those of other packages of the pass."""
        more = self._more(absent)
        return not more or self.inputs + more <= self.free

    def bring(self, absent: Mapping[int, int]) -> None:
        """Account for the inputs of a package."""
        self.inputs += self._more(absent)
        self.brought.update(absent)

    def _more(self, absent: Mapping[int, int]) -> int:
        return sum(size for file, size in absent.items() if file not in self.brought)
