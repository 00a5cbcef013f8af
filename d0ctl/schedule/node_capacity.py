"""What a node can still take during one pass of the scheduler."""

import heapq
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct, field

from d0ctl.schedule.costs import ANY, Cost, Links
from d0ctl.schedule.quota import UNBOUNDED, Allowance, least
from d0ctl.schedule.resources import SOON_S, Disk, InputCopies, NodeRoom, Requirement, Soon, suited

EPSILON = 1e-6
"""By how many CPUs a sum of fractions of CPUs may be wrong."""

SOON_PART = 0.05
"""A CPU is kept from a package if another one can use it within this part of its run time."""


class Busy(Struct, frozen=True):
    """A package on a node: its CPUs, and for how many more seconds it needs them.

    One that is `queued` does not have them yet.
    """

    cpus: int
    left_s: float
    queued: bool = False
    job: int = 0
    after: float = 0.0
    """Seconds of the longest chain of packages of its job that begins when it ends."""
    is_guess: bool = False
    """Its run time is unknown: it is expected to take as long again as it has run."""


class NodeCapacity(Struct):
    """What a node can still take during one pass.

    `free` are CPUs for packages that start at once, `rest` those for packages whose inputs are
    brought first. Beyond the packages that compute, a node may have as many of these as it has
    CPUs, so that transfers overlap with computing (InGrid, Package Distribution Daemons). `bounds`
    limits the number of packages by stage, `others` that of all other stages.
    """

    node: NodeRoom
    free: float
    rest: float
    bounds: dict[int, int]
    others: int = UNBOUNDED
    memory: int | None = None
    gpus: int = 0
    disk: Disk | None = None
    soon: list[Soon] = field(default_factory=list)
    """The packages for which CPUs are free, and whose inputs are brought."""
    reserved: float = 0.0
    """The CPUs of these that packages of the current requirement leave to them."""
    lasting: float = 0.0
    """The CPUs of packages that are not short: nothing is sent in advance to wait for these."""
    extra: int = 0
    """CPUs' worth of the current requirement that it may get beyond its CPUs."""
    is_last_resort: bool = True
    """Whether no other node has the disk that the current requirement is expected to take."""
    allowances: Sequence[Allowance] = ()
    """What throttles still allow it."""
    slots: list[float] | None = None
    """When each of its CPUs is free, in seconds from now, as a heap; None if not computed yet."""
    chains: dict[tuple[float, int], float] = field(default_factory=dict)
    """The longest chain that begins when a package ends, by the seconds until then and its job."""

    def __post_init__(self) -> None:
        node = self.node
        self.memory = None if node.memory is None else node.memory - node.memory_used
        self.gpus = node.gpus - node.gpus_used
        self.lasting = node.lasting
        self.disk = None if node.disk_free is None else Disk(node.disk_free - node.disk_used)

    def holds(self, requirement: Requirement) -> int:
        """Return how many packages with a requirement fit into its memory, GPUs and disk.

        Estimates alone keep no package from a node on which nothing is reserved, unless another
        node has the expected disk. A disk below its reserve takes none: their programs would be
        suspended at once.
        """
        if self.node.disk_short:
            return 0
        memory = requirement.memory or requirement.memory_expected
        space = requirement.space_expected or requirement.space
        if not memory and not space and not requirement.gpus:
            return UNBOUNDED
        node, most = self.node, UNBOUNDED
        if memory and self.memory is not None:
            least = int(requirement.memory is None and self.memory == node.memory)
            most = max(least, max(0, self.memory) // memory)
        if requirement.gpus:
            most = min(most, max(0, self.gpus) // requirement.gpus)
        if space and self.disk is not None:
            is_tried = self.is_last_resort and self.disk.free == node.disk_free
            least = int(is_tried and (requirement.space or 0) <= self.disk.free)
            most = min(most, max(least, max(0, self.disk.free) // space))
        return most

    def may_hold(self, requirement: Requirement) -> bool:
        """Return whether the disk can hold a package, if need be when others there have ended."""
        is_open = self.node.on_trial is None and self.bound(requirement) > 0
        return is_open and has_space(requirement, self.node.disk_free, self.node.disk_short)

    def may_take(self, requirement: Requirement) -> bool:
        """Return whether it may take a package when others there have ended, even as a trial of its
        disk.
        """
        is_open = self.node.on_trial is None and self.bound(requirement) > 0
        is_tried = self.is_last_resort and not self.node.disk_short
        has_disk = has_space(requirement, self.node.disk_free, self.node.disk_short)
        return is_open and (is_tried or has_disk)

    def select(self, requirement: Requirement, *, is_last_resort: bool) -> None:
        """Give out packages of this requirement from now on."""
        self.is_last_resort = is_last_resort
        brisk = self.node.cpus - self.lasting
        self.extra = requirement.ahead(brisk) if self.node.on_trial is None else 0
        self.reserved = self._reserved_from(requirement) if self.soon else 0.0

    def _reserved_from(self, requirement: Requirement) -> float:
        """Return how many free CPUs it leaves to packages of other jobs that start soon."""
        run_s = requirement.run_s(self.node.speed)
        most_s = SOON_S if run_s is None else min(SOON_S, SOON_PART * run_s)
        return sum(other.load for other in self.soon
                   if other.job != requirement.job and other.start_s <= most_s)  # fmt: skip

    @property
    def open_cpus(self) -> float:
        """The CPUs for packages of the current requirement that start at once."""
        return self.free - self.reserved

    def most(self, requirement: Requirement) -> int:
        """Return how many packages of a requirement it can take, whatever their inputs."""
        room = max(self.open_cpus, self.rest) if requirement.fetches else self.open_cpus
        most = int(max(0.0, room + self.extra + EPSILON) // requirement.load)
        return min(most, self.bound(requirement), self.holds(requirement))

    def bound(self, requirement: Requirement) -> int:
        """Return how many packages of a requirement it may take by throttles, and as a suspect."""
        is_trusted = requirement.trusting and self.node.on_trial is None
        most = self.others if is_trusted else self.bounds.get(requirement.stage, self.others)
        return min(most, least(self.allowances)) if self.allowances else most

    def has_room(self, requirement: Requirement, *, is_brought: bool) -> bool:
        """Return whether it can take a package whose inputs have to be copied or not."""
        room = (self.rest if is_brought else self.open_cpus) + self.extra
        return (
            room + EPSILON >= requirement.load
            and self.bound(requirement) > 0
            and self.holds(requirement) > 0
        )  # fmt: skip

    def takes_inputs(self, files: InputCopies | None) -> bool:
        """Return whether its cache has space for the inputs of a package that it lacks."""
        if files is None or self.disk is None:
            return True
        absent = files.absent.get(self.node.cluster)
        return not absent or self.disk.takes(absent)

    def brings(self, files: InputCopies | None) -> bool:
        """Return whether an input would have to be copied."""
        return files is not None and files.lacks(self.node.cluster)

    def starts(self, requirement: Requirement) -> bool:
        """Return whether CPUs are free for a package now."""
        return self.open_cpus + self.extra + EPSILON >= requirement.load

    def has_free(self, requirement: Requirement) -> bool:
        """Return whether CPUs are free for a package now, without those beyond its own."""
        return self.open_cpus + EPSILON >= requirement.load

    def wait_s(self, requirement: Requirement) -> float:
        """Return after how many seconds CPUs are free for a package."""
        if self.slots is None or (requirement.cpu < 100 and self.starts(requirement)):
            return 0.0
        if requirement.cpus == 1:
            return self.slots[0]
        return max(heapq.nsmallest(requirement.cpus, self.slots), default=0.0)

    def cost(
        self,
        requirement: Requirement,
        places: Mapping[int, int],
        files: InputCopies | None,
        links: Links,
    ) -> Cost:
        """Return what a package costs here; `places` has the bytes of its inputs by cluster."""
        transfer_s, rate, each_s = 0.0, None, 0.0
        if self.brings(files):
            cluster = self.node.cluster
            number = files.files - files.there.get(cluster, 0) if files is not None else 0
            lacking = max(places.values(), default=0) - places.get(cluster, 0)
            source = max((at for at in places if at != ANY), key=places.__getitem__, default=ANY)
            transfer_s = links.seconds(cluster, lacking, number, source)
            rate, each_s = links.rate_of(source, cluster), links.file_s_of(source, cluster)
        run_s = requirement.run_s(self.node.speed)
        return Cost(transfer_s, self.wait_s(requirement), run_s, rate, each_s)

    def precedes(self, requirement: Requirement, cost: Cost) -> bool:
        """Return whether CPUs become free by a package of its job with a longer chain after it.

        They are for the next package of that chain, which may be ready then.
        """
        after = self.chains.get((cost.wait_s, requirement.job), 0.0)
        return after > requirement.rank + cost.transfer_s

    def set_busy(self, busy: Collection[Busy]) -> None:
        """Learn when its CPUs become free, from the packages there."""
        slots = [0.0] * self.node.cpus
        self.chains = {}
        for package in busy:
            if not package.queued:
                key = package.left_s, package.job
                self.chains[key] = max(package.after, self.chains.get(key, 0.0))
        for package in sorted(busy, key=lambda package: (package.queued, package.left_s)):
            _occupy(slots, package.cpus, 0.0, package.left_s)
        self.slots = slots

    def occupy(self, requirement: Requirement, cost: Cost) -> None:
        """Account for a package that will run here, now or later."""
        if self.slots is not None:
            part = requirement.cpu / 100
            _occupy(self.slots, requirement.cpus, cost.start_s, part * (cost.run_s or 0.0))

    def promise(self, load: float) -> float:
        """Keep up to this many CPUs that become free for others; return how many it has."""
        idle = self.free - sum(other.load for other in self.soon)
        promised = min(load, max(0.0, self.rest - max(0.0, idle)))
        self.rest -= promised
        return promised

    def take(self, requirement: Requirement, files: InputCopies | None) -> None:
        """Give a package to the node."""
        self.rest -= requirement.load
        if not requirement.is_short:
            self.lasting += requirement.load
        if self.memory is not None:
            self.memory -= requirement.memory or requirement.memory_expected or 0
        self.gpus -= requirement.gpus
        if self.disk is not None:
            self.disk.free -= requirement.space_expected or requirement.space or 0
            if files is not None:
                self.disk.bring(files.absent.get(self.node.cluster, {}))
        if not self.brings(files):
            self.free -= requirement.load
        if requirement.stage in self.bounds:
            self.bounds[requirement.stage] -= 1
        for allowance in self.allowances:
            allowance.taken += 1
        if self.node.on_trial is not None:
            self.bounds, self.others = {}, 0


def has_space(requirement: Requirement, free: int | None, short: int) -> bool:
    """Return whether a disk has the space that a package is expected to take, or may have it."""
    space = requirement.space_expected or requirement.space or 0
    return not short and (free is None or free >= space)


def capacity_of(
    node: NodeRoom,
    nodes: Sequence[NodeRoom],
    requirements: Sequence[Requirement],
    bounds: dict[int, int],
) -> NodeCapacity:
    """Return what a node can take; one on trial takes a package of the stage that it failed."""
    free = node.cpus - node.used
    rest = free + node.cpus - node.suspended - node.bringing
    if node.on_trial is None:
        return NodeCapacity(node, free, rest, bounds)
    own = [requirement for requirement in requirements if requirement.stage == node.on_trial]
    if any(node in suited(requirement, nodes) for requirement in own):
        return NodeCapacity(node, free, rest, {node.on_trial: 1}, others=0)
    return NodeCapacity(node, free, rest, {}, others=1)


def select(capacities: Sequence[NodeCapacity], requirement: Requirement) -> None:
    """Have the nodes that meet a requirement take its packages from now on."""
    is_last_resort = not any(capacity.may_hold(requirement) for capacity in capacities)
    for capacity in capacities:
        capacity.select(requirement, is_last_resort=is_last_resort)


def share_disks(capacities: Sequence[NodeCapacity]) -> None:
    """Have nodes of a cluster share the same cache, with the least free space that one reports."""
    of_cluster: dict[int, Disk] = {}
    for capacity in capacities:
        if capacity.disk is not None:
            shared = of_cluster.setdefault(capacity.node.cluster, capacity.disk)
            shared.free, capacity.disk = min(shared.free, capacity.disk.free), shared


def _occupy(slots: list[float], cpus: int, earliest: float, seconds: float) -> None:
    """Use this many CPUs for some seconds, as soon as they are free, but not before a time."""
    taken = [heapq.heappop(slots) for _ in range(min(cpus, len(slots)))]
    end = max([earliest, *taken]) + seconds
    for _ in taken:
        heapq.heappush(slots, end)
