"""Placement of ready packages on nodes, by priority, age, free CPUs, cost and location of files."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct, field

from d0ctl.schedule.choice import Choice, Decision, NodeChoice
from d0ctl.schedule.costs import Cost, Links
from d0ctl.schedule.node_capacity import Busy, NodeCapacity, capacity_of, select, share_disks
from d0ctl.schedule.quota import Quota
from d0ctl.schedule.resources import (
    NO_BOUNDS,
    InputCopies,
    NodeRoom,
    Requirement,
    Rooms,
    Soon,
    misfit,
    shape,
    suited,
)

MOST_WAITING = 256
"""The most packages of a pass that are left for nodes where they would end earlier."""

PATIENCE_FULL = 8
"""While no CPU is free, each of these packages counts as this many."""

EARLY_S = 0.05
"""A package whose inputs are to be brought goes to a node this much before CPUs are free there, in
addition to the time that they take."""

DEEP = 4
"""If more similar packages than this are ready for each CPU, none waits: others would go there."""

WORTH = 0.05
"""A package waits for another node only if it ends there earlier by this part of its run time."""

NO_INPUT_COPIES: Mapping[int, InputCopies] = {}


def place(
    nodes: Sequence[NodeRoom],
    requirements: Iterable[Requirement],
    oldest: Callable[[int, int], Sequence[int]],
    local_bytes: Callable[[Sequence[int]], Mapping[int, Mapping[int, int]]],
    input_copies: Callable[[Sequence[int]], Mapping[int, InputCopies]] = lambda packages: (
        NO_INPUT_COPIES
    ),
    bounds: Rooms = NO_BOUNDS,
    quota: Quota | None = None,
    busy: Callable[[], Mapping[int, Sequence[Busy]]] = dict,
    links: Callable[[], Links] = Links,
    early_s: float = EARLY_S,
    due: Callable[[float], None] = lambda seconds: None,
    soon: list[Soon] | None = None,
) -> list[Decision]:
    """Decide for as many packages as can be taken, in the order of `requirements`.

    `oldest(requirement, n)` returns its n oldest ready packages. `local_bytes` returns how many
    bytes of a package's inputs each cluster has, `brought` how many files. `quota` limits how many
    packages of stages and jobs start.

    `busy` returns by node the packages there, `links` the bytes on their way to clusters. They are
    called only if run times are known and it may be better to wait for a node than to take another.
    `due` is called with the seconds after which inputs should leave for a node that is in use now.
    Packages in `soon` have free CPUs; those that get some now are added.

    The work grows with the free CPUs and the ready requirements, never with the number of packages
    that wait or are done.
    """
    wanted_by = list(requirements)
    trust = _by_node(bounds)
    capacities = [capacity_of(node, nodes, wanted_by, trust.get(node.id, {})) for node in nodes]
    share_disks(capacities)
    one_pass = _Pass(nodes, capacities, quota or Quota(), busy, links, early_s)
    one_pass.soon = [] if soon is None else soon
    one_pass.has_copies = any(requirement.fetches for requirement in wanted_by)
    for capacity in capacities:
        capacity.allowances = one_pass.quota.nodes.get(capacity.node.id, ())
        capacity.soon = [other for other in one_pass.soon if other.node == capacity.node.id]
    rounds = [wanted_by, wanted_by] if one_pass.quota.groups else [wanted_by]
    seen_of: dict[int, int] = {}
    """How many packages of each requirement were considered."""
    for number, in_turn in enumerate(rounds, 1):
        if number == 2:
            # shares that groups do not use are for the others
            one_pass.quota.groups = {}
        for requirement in in_turn:
            _take_turn(one_pass, requirement, seen_of, oldest, local_bytes, input_copies)
    if one_pass.due_s < math.inf:
        due(one_pass.due_s)
    return one_pass.decisions


def _take_turn(
    one_pass: "_Pass",
    requirement: Requirement,
    seen_of: dict[int, int],
    oldest: Callable[[int, int], Sequence[int]],
    local_bytes: Callable[[Sequence[int]], Mapping[int, Mapping[int, int]]],
    input_copies: Callable[[Sequence[int]], Mapping[int, InputCopies]],
) -> None:
    """Give out packages with a requirement, after those that were considered before."""
    able, others = one_pass.capacities_for(requirement)
    if one_pass.has_enough_waiting:
        able = [capacity for capacity in able if capacity.starts(requirement)]
    most = min(sum(capacity.most(requirement) for capacity in able), one_pass.allowed(requirement))
    rivals = _worth_waiting_for(requirement, able, others) if most > 0 else []
    seen = seen_of.get(requirement.id, 0)
    waiting = requirement.ready - seen
    while most > 0 and seen < requirement.ready:
        packages = oldest(requirement.id, min(seen + most, requirement.ready))[seen:]
        before = len(one_pass.decisions)
        left = one_pass.give_out(
            requirement, packages, able, rivals, local_bytes(packages),
            input_copies(packages) if requirement.fetches else NO_INPUT_COPIES, len(others),
        )  # fmt: skip
        waiting -= len(one_pass.decisions) - before + left
        # packages left for better nodes let others pass
        seen, most = seen + len(packages), min(left, most)
        if not left or one_pass.has_enough_waiting:
            break
    seen_of[requirement.id] = seen
    one_pass.promise(requirement, min(waiting, one_pass.allowed(requirement)), others)


class _Pass(Struct):
    """One pass: the nodes with what they can still take, and what was decided."""

    nodes: Sequence[NodeRoom]
    capacities: list[NodeCapacity]
    quota: Quota
    busy: Callable[[], Mapping[int, Sequence[Busy]]]
    read_links: Callable[[], Links]
    early_s: float = EARLY_S
    due_s: float = math.inf
    """In how many seconds the inputs of a package should be on their way."""
    links: Links = Links()
    fits: dict[tuple[object, ...], list[NodeCapacity]] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)
    soon: list[Soon] = field(default_factory=list)
    """The packages for which free CPUs are kept until their inputs are there."""
    has_copies: bool = False
    """Whether inputs of some packages may have to be copied."""
    waiting: int = 0
    """How many packages are left for nodes where they would end earlier."""
    has_busy_times: bool = False
    """Whether the nodes know when their CPUs become free."""

    @property
    def has_enough_waiting(self) -> bool:
        """Whether so many wait that the others only get CPUs that are free."""
        return self.waiting >= MOST_WAITING

    def capacities_for(
        self, requirement: Requirement
    ) -> tuple[list[NodeCapacity], list[NodeCapacity]]:
        """Return the nodes that can take packages with a requirement now, and those that fit."""
        ends = any(node.left_s is not None for node in self.nodes)
        key = (*shape(requirement), requirement.seconds if ends else None)
        fits = self.fits.get(key)
        if fits is None:
            if requirement.avoid or requirement.excluded:
                names = {node.id for node in suited(requirement, self.nodes)}
                fits = [capacity for capacity in self.capacities if capacity.node.id in names]
            else:
                fits = [capacity for capacity in self.capacities
                        if misfit(requirement, capacity.node) is None]  # fmt: skip
            self.fits[key] = fits
        select(fits, requirement)
        return [capacity for capacity in fits if capacity.most(requirement) > 0], fits

    def allowed(self, requirement: Requirement) -> int:
        """Return how many more packages with a requirement limits and shares allow."""
        fair = self.quota.fair(requirement.job, requirement.load)
        return min(self.quota.left(requirement.stage, requirement.job), fair)

    def promise(
        self, requirement: Requirement, packages: int, fits: Sequence[NodeCapacity]
    ) -> None:
        """Keep CPUs that become free for packages that found none, or are left for these.

        Else later packages whose inputs are brought meanwhile would be there before them.
        """
        load = packages * requirement.load if self.has_copies else 0.0
        for capacity in fits:
            if load <= 0:
                break
            if capacity.node.on_trial is None and capacity.bound(requirement) > 0:
                load -= capacity.promise(load)

    def give_out(
        self,
        requirement: Requirement,
        packages: Sequence[int],
        able: Sequence[NodeCapacity],
        rivals: Sequence[NodeCapacity],
        places_of: Mapping[int, Mapping[int, int]],
        files_of: Mapping[int, InputCopies],
        fits: int,
    ) -> int:
        """Give packages to nodes, or leave them for nodes where they would end earlier.

        Return how many are left this way. `fits` nodes meet the requirement.
        """
        left, reasons = 0, dict[int, NodeChoice]()
        if rivals and not self.has_busy_times:
            self.set_busy_times()
        now = Choice(able, requirement, self.links, with_room=True)
        later = Choice(rivals, requirement, self.links, with_room=False)
        for package in packages:
            places, files = places_of.get(package, {}), files_of.get(package)
            capacity, cost = now.best(places, files)
            if capacity is None:
                if not requirement.fetches:
                    break
                continue
            if self.has_enough_waiting and not capacity.starts(requirement):
                continue
            if rivals:
                capacity, cost, is_later = self.weigh(requirement, later, places, files,
                                                      capacity, cost)  # fmt: skip
                if is_later:
                    capacity.occupy(requirement, cost)
                    self.promise(requirement, 1, [capacity])
                    left += 1
                    self.waiting += 1 if any(node.free > 0 for node in able) else PATIENCE_FULL
                    continue
            node = capacity.node
            if (why := reasons.get(node.id)) is None:
                why = reasons[node.id] = now.reason(capacity, places, files, fits)
            if capacity.brings(files) and capacity.has_free(requirement):
                soon = Soon(package, node.id, requirement.job, requirement.load, cost.transfer_s)
                capacity.soon.append(soon)
                self.soon.append(soon)
            capacity.take(requirement, files)
            capacity.occupy(requirement, cost)
            self.quota.take(requirement.stage, requirement.job, requirement.load)
            carried = max(places.values(), default=0) - places.get(node.cluster, 0)
            self.decisions.append(Decision(package, node.id, carried, cost.start_s, why))
        return left

    def weigh(
        self,
        requirement: Requirement,
        rivals: Choice,
        places: Mapping[int, int],
        files: InputCopies | None,
        capacity: NodeCapacity,
        cost: Cost,
    ) -> tuple[NodeCapacity, Cost, bool]:
        """Return where a package should run, and whether it is too early to send it there."""
        if not self.has_enough_waiting:
            rival, later = rivals.best(places, files)
            if rival is not None and later.end_s < cost.end_s - WORTH * (cost.run_s or 0.0):
                if rival.brings(files):
                    self.note_due(later)
                return rival, later, True
        # bound to a node long before it can start, it would keep others from it
        is_early = capacity.brings(files) and cost.wait_s > cost.transfer_s + self.early_s
        if self.has_enough_waiting or not (is_early or capacity.precedes(requirement, cost)):
            return capacity, cost, False
        if is_early:
            self.note_due(cost)
        return capacity, cost, True

    def note_due(self, cost: Cost) -> None:
        """Note when inputs have to leave to be there when CPUs become free."""
        self.due_s = min(self.due_s, max(0.0, cost.wait_s - cost.transfer_s - self.early_s))

    def set_busy_times(self) -> None:
        """Tell the nodes when their CPUs become free."""
        known, self.links = self.busy(), self.read_links()
        for capacity in self.capacities:
            capacity.set_busy(known.get(capacity.node.id, ()))
        self.has_busy_times = True


def _worth_waiting_for(
    requirement: Requirement, able: Sequence[NodeCapacity], fits: Sequence[NodeCapacity]
) -> list[NodeCapacity]:
    """Return the nodes where packages may end earlier although their CPUs are in use."""
    if requirement.seconds is None or requirement.is_short or requirement.preferred:
        return []
    if requirement.ready > DEEP * sum(capacity.node.cpus for capacity in fits):
        return []
    slowest = min(capacity.node.speed for capacity in able)
    return [capacity for capacity in fits
            if (requirement.fetches or capacity.node.speed > slowest)
            and capacity.may_take(requirement)]  # fmt: skip


def _by_node(bounds: Rooms) -> dict[int, dict[int, int]]:
    found: dict[int, dict[int, int]] = {}
    for (stage, node), most in bounds.items():
        found.setdefault(node, {})[stage] = most
    return found
