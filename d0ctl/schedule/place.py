"""Placement of ready packages on nodes, by priority, age, free CPUs, cost and location of files."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct, field

from d0ctl.schedule.choice import Choice
from d0ctl.schedule.costs import Cost, Links
from d0ctl.schedule.hand import Busy, Disk, Hand
from d0ctl.schedule.quota import Quota
from d0ctl.schedule.resources import (
    NO_BOUNDS,
    Brought,
    NodeRoom,
    Requirement,
    Rooms,
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
"""If more similar packages than this are ready for each CPU, none waits: another would go there
anyway.
"""

WORTH = 0.05
"""A package waits for another node only if it ends there earlier by this part of its run time."""

NOTHING_BROUGHT: Mapping[int, Brought] = {}


class Decision(Struct, frozen=True):
    """This package goes to this node; `cost` is how many bytes must be carried there, `start_s` in
    how many seconds it is expected to start.
    """

    package: int
    node: int
    cost: int
    start_s: float = 0.0


def place(
    nodes: Sequence[NodeRoom],
    requirements: Iterable[Requirement],
    oldest: Callable[[int, int], Sequence[int]],
    local_bytes: Callable[[Sequence[int]], Mapping[int, Mapping[int, int]]],
    brought: Callable[[Sequence[int]], Mapping[int, Brought]] = lambda packages: NOTHING_BROUGHT,
    bounds: Rooms = NO_BOUNDS,
    quota: Quota | None = None,
    busy: Callable[[], Mapping[int, Sequence[Busy]]] = dict,
    links: Callable[[], Links] = Links,
) -> list[Decision]:
    """Decide for as many packages as can be taken, in the order of `requirements`.

    `oldest(requirement, n)` returns its n oldest ready packages. `local_bytes` returns how many
    bytes of a package's inputs each cluster has, `brought` how many files. `quota` limits how many
    packages of stages and jobs start.

    `busy` returns by node the packages there, `links` the bytes on their way to clusters. They are
    called only if run times are known and it may be better to wait for a node than to take another.

    The work grows with the free CPUs and the ready requirements, never with the number of packages
    that wait or are done.
    """
    wanted_by = list(requirements)
    trust = _by_node(bounds)
    hands = [_hand(node, nodes, wanted_by, trust.get(node.id, {})) for node in nodes]
    _share_disks(hands)
    one_pass = _Pass(nodes, hands, quota or Quota(), busy, links)
    for hand in hands:
        hand.allowances = one_pass.quota.nodes.get(hand.node.id, ())
    rounds = [wanted_by, wanted_by] if one_pass.quota.groups else [wanted_by]
    seen_of: dict[int, int] = {}
    """How many packages of each requirement were considered."""
    for number, in_turn in enumerate(rounds, 1):
        if number == 2:
            # shares that groups do not use are for the others
            one_pass.quota.groups = {}
        for requirement in in_turn:
            _take_turn(one_pass, requirement, seen_of, oldest, local_bytes, brought)
    return one_pass.decisions


def _take_turn(
    one_pass: "_Pass",
    requirement: Requirement,
    seen_of: dict[int, int],
    oldest: Callable[[int, int], Sequence[int]],
    local_bytes: Callable[[Sequence[int]], Mapping[int, Mapping[int, int]]],
    brought: Callable[[Sequence[int]], Mapping[int, Brought]],
) -> None:
    """Give out packages with a requirement, after those that were considered before."""
    able, others = one_pass.hands_for(requirement)
    if one_pass.is_tired:
        able = [hand for hand in able if hand.starts(requirement)]
    if not able:
        return
    most = min(
        sum(hand.most(requirement) for hand in able),
        one_pass.quota.left(requirement.stage, requirement.job),
        one_pass.quota.fair(requirement.job, requirement.load),
    )
    if most <= 0:
        return
    rivals = _worth_waiting_for(requirement, able, others)
    seen = seen_of.get(requirement.id, 0)
    while most > 0 and seen < requirement.ready:
        packages = oldest(requirement.id, min(seen + most, requirement.ready))[seen:]
        left = one_pass.give_out(
            requirement, packages, able, rivals, local_bytes(packages),
            brought(packages) if requirement.fetches else NOTHING_BROUGHT,
        )  # fmt: skip
        # packages left for better nodes let others pass
        seen, most = seen + len(packages), min(left, most)
        if not left or one_pass.is_tired:
            break
    seen_of[requirement.id] = seen


class _Pass(Struct):
    """One pass: the nodes with what they can still take, and what was decided."""

    nodes: Sequence[NodeRoom]
    hands: list[Hand]
    quota: Quota
    busy: Callable[[], Mapping[int, Sequence[Busy]]]
    read_links: Callable[[], Links]
    links: Links = Links()
    fits: dict[tuple[object, ...], list[Hand]] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)
    waiting: int = 0
    """How many packages are left for nodes where they would end earlier."""
    is_informed: bool = False
    """Whether the nodes know when their CPUs become free."""

    @property
    def is_tired(self) -> bool:
        """Whether so many wait that the others only get CPUs that are free."""
        return self.waiting >= MOST_WAITING

    def hands_for(self, requirement: Requirement) -> tuple[list[Hand], list[Hand]]:
        """Return the nodes that can take packages with a requirement now, and those that fit."""
        ends = any(node.left_s is not None for node in self.nodes)
        key = (*shape(requirement), requirement.seconds if ends else None)
        fits = self.fits.get(key)
        if fits is None:
            if requirement.avoid or requirement.excluded:
                names = {node.id for node in suited(requirement, self.nodes)}
                fits = [hand for hand in self.hands if hand.node.id in names]
            else:
                fits = [hand for hand in self.hands if misfit(requirement, hand.node) is None]
            self.fits[key] = fits
        for hand in fits:
            hand.turn_to(requirement)
        return [hand for hand in fits if hand.most(requirement) > 0], fits

    def give_out(
        self,
        requirement: Requirement,
        packages: Sequence[int],
        able: Sequence[Hand],
        rivals: Sequence[Hand],
        places_of: Mapping[int, Mapping[int, int]],
        files_of: Mapping[int, Brought],
    ) -> int:
        """Give packages to nodes, or leave them for nodes where they would end earlier.

        Return how many are left this way.
        """
        left = 0
        if rivals and not self.is_informed:
            self.inform()
        now = Choice(able, requirement, self.links, with_room=True)
        later = Choice(rivals, requirement, self.links, with_room=False)
        for package in packages:
            places, files = places_of.get(package, {}), files_of.get(package)
            hand, cost = now.best(places, files)
            if hand is None:
                if not requirement.fetches:
                    break
                continue
            if self.is_tired and not hand.starts(requirement):
                continue
            if rivals:
                hand, cost, is_later = self.weigh(later, places, files, hand, cost)
                if is_later:
                    hand.occupy(requirement, cost)
                    left += 1
                    self.waiting += 1 if any(one.free > 0 for one in able) else PATIENCE_FULL
                    continue
            hand.take(requirement, hand.brings(files))
            hand.occupy(requirement, cost)
            self.quota.take(requirement.stage, requirement.job, requirement.load)
            carried = max(places.values(), default=0) - places.get(hand.node.cluster, 0)
            self.decisions.append(Decision(package, hand.node.id, carried, cost.start_s))
        return left

    def weigh(
        self,
        rivals: Choice,
        places: Mapping[int, int],
        files: Brought | None,
        hand: Hand,
        cost: Cost,
    ) -> tuple[Hand, Cost, bool]:
        """Return where a package should run, and whether it is too early to send it there."""
        if not self.is_tired:
            rival, later = rivals.best(places, files)
            if rival is not None and later.end_s < cost.end_s - WORTH * (cost.run_s or 0.0):
                return rival, later, True
        # bound to a node long before it can start, it would keep others from it
        is_early = hand.brings(files) and cost.wait_s > cost.transfer_s + EARLY_S
        return hand, cost, is_early and not self.is_tired

    def inform(self) -> None:
        """Tell the nodes when their CPUs become free."""
        known, self.links = self.busy(), self.read_links()
        for hand in self.hands:
            hand.know(known.get(hand.node.id, ()))
        self.is_informed = True


def _worth_waiting_for(
    requirement: Requirement, able: Sequence[Hand], fits: Sequence[Hand]
) -> list[Hand]:
    """Return the nodes where packages may end earlier although their CPUs are in use."""
    if requirement.seconds is None or requirement.is_short or requirement.preferred:
        return []
    if requirement.ready > DEEP * sum(hand.node.cpus for hand in fits):
        return []
    slowest = min(hand.node.speed for hand in able)
    return [
        hand
        for hand in fits
        if (requirement.fetches or hand.node.speed > slowest)
        and hand.node.on_trial is None
        and hand.bound(requirement) > 0
    ]


def _share_disks(hands: Sequence[Hand]) -> None:
    """Have nodes of a cluster share the same cache, with the least free space that one reports."""
    of_cluster: dict[int, Disk] = {}
    for hand in hands:
        if hand.disk is not None:
            shared = of_cluster.setdefault(hand.node.cluster, hand.disk)
            shared.free, hand.disk = min(shared.free, hand.disk.free), shared


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
) -> Hand:
    """Return what a node can take; one on trial takes a package of the stage that it failed."""
    free, rest = node.cpus - node.used, 2 * node.cpus - node.used - node.bringing
    if node.on_trial is None:
        return Hand(node, free, rest, bounds)
    own = [requirement for requirement in requirements if requirement.stage == node.on_trial]
    if any(node in suited(requirement, nodes) for requirement in own):
        return Hand(node, free, rest, {node.on_trial: 1}, others=0)
    return Hand(node, free, rest, {}, others=1)
