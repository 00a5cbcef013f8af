"""The best of the nodes that can take a package, and why not the next best one."""

import heapq
from collections import defaultdict
from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from d0ctl.schedule.costs import Cost, Links
from d0ctl.schedule.node_capacity import Busy, NodeCapacity
from d0ctl.schedule.resources import InputCopies, NodeRoom, Requirement

Rank = tuple[float, float, bool, int, float]
"""Nodes are compared by how much the broker prefers them, by when a package ends there, by whether
CPUs are free, by the bytes of its inputs that they have, and by the fraction of their CPUs that
is left."""

RULES = ("preferred", "earliest", "starts", "inputs", "free")
"""The fields of a rank, as rules by which a node is better than another."""

ALIKE, ONLY, OUTPUTS, EARLY = "alike", "only", "outputs", "early"
"""Rules besides: the nodes differ in nothing, no other node has room, the node has outputs that are
only to be delivered, and packages that start early wait where most of their inputs are."""


class NodeChoice(Struct, frozen=True):
    """Why a node got packages with a requirement in one pass.

    `fits` nodes meet the requirement, and `able` of them had room. `mine` and `theirs` are what the
    rule compares: preferences, seconds, bytes, or the fraction of CPUs that is left; None if it
    compares nothing.
    """

    requirement: int
    node: int
    rule: str
    able: int
    fits: int
    rival: str | None = None
    mine: float | None = None
    theirs: float | None = None


class Decision(Struct, frozen=True):
    """This package goes to this node; `cost` is how many bytes must be carried there, `start_s` in
    how many seconds it is expected to start.
    """

    package: int
    node: int
    cost: int
    start_s: float = 0.0
    why: NodeChoice | None = None


def between(mine: Rank, others: Sequence[tuple[Rank, str]]) -> tuple[str, str, float, float]:
    """Return the rule by which a node is better than the best of others, its name, and what is
    compared.
    """
    theirs, rival = min(others)
    for rule, ours, other in zip(RULES, mine, theirs, strict=True):
        if ours != other:
            sign = 1 if rule in ("earliest", "starts") else -1
            return rule, rival, sign * float(ours), sign * float(other)
    return ALIKE, rival, 0.0, 0.0


NO_COST = Cost(0.0, 0.0, None)


class Choice:
    """Nodes in their order for packages with a requirement.

    Without `with_room` they need not have room now. Among nodes without any of a package's inputs
    only the first is considered, because they differ in nothing else.
    """

    def __init__(
        self,
        capacities: Sequence[NodeCapacity],
        requirement: Requirement,
        links: Links,
        *,
        with_room: bool,
    ) -> None:
        self._capacities = capacities
        self._requirement = requirement
        self._links = links
        self._with_room = with_room
        self._by_cluster: dict[int, list[NodeCapacity]] = defaultdict(list)
        for capacity in capacities:
            self._by_cluster[capacity.node.cluster].append(capacity)
        self._heaps: dict[bool, list[tuple[Rank, int]]] = {}
        self._size: int | None = None
        """The size in bytes of the inputs of the first package; the others are similar."""

    def best(
        self, places: Mapping[int, int], files: InputCopies | None
    ) -> tuple[NodeCapacity | None, Cost]:
        """Return the node where a package ends first, None if there is none, and its cost there.

        `places` has the bytes of its inputs by cluster, `files` their number.
        """
        if len(self._capacities) == 1:
            only = self._capacities[0]
            is_open = self._takes(only, files)
            return (only, self._cost(only, places, files)) if is_open else (None, NO_COST)
        if self._size is None:
            self._size = max(places.values(), default=0) if self._links.rates else 0
        near = self._near(places)
        first = self._first(files is not None and files.files > 0)
        if first is not None and not first.takes_inputs(files):
            first = self._first_with_space(files)
        if not near:
            return first, self._cost(first, places, files)
        best: NodeCapacity | None = None
        best_cost: Cost = NO_COST
        best_rank: Rank | None = None
        for capacity in [*near, first] if first is not None else near:
            if not self._takes(capacity, files):
                continue
            brings, cost = capacity.brings(files), self._cost(capacity, places, files)
            rank = self._rank(capacity, cost, places.get(capacity.node.cluster, 0), brings)
            if best_rank is None or rank < best_rank:
                best, best_cost, best_rank = capacity, cost, rank
        return best, best_cost

    def reason(
        self, best: NodeCapacity, places: Mapping[int, int], files: InputCopies | None, fits: int
    ) -> NodeChoice:
        """Return why a package goes to this node, as long as that has not taken it.

        It is compared with the nodes, and by the ranks, by which it was chosen: with nodes that
        have inputs and the first of the others, or else with a few of the others.
        """
        brings = files is not None and files.files > 0
        first, near = self._first(brings), self._near(places)
        rivals = [other for other in (*near, first) if other is not None and other is not best]
        others = [
            (self._rank_of(other, places, files), other.node.name)
            for other in rivals * bool(near)
            if other.has_room(self._requirement, is_brought=other.brings(files))
            and other.takes_inputs(files)
        ]
        mine = self._rank_of(best, places, files)
        if not others:
            heap = self._heaps.get(brings, [])[:3]
            far = [self._capacities[number] for _, number in heap]
            mine = mine if near else self._rank_without(best, brings)
            others = [
                (self._rank_of(other, places, files) if near
                 else self._rank_without(other, brings), other.node.name)
                for other in far
                if other is not best
                and other.has_room(self._requirement, is_brought=brings)
                and other.takes_inputs(files)
            ]  # fmt: skip
        found = NodeChoice(self._requirement.id, best.node.id, ONLY, len(self._capacities), fits)
        if not others:
            return found
        # nodes without inputs are chosen among by an estimate for all, which may favour another
        behind = [other for other in others if other[0] >= mine] or [(mine, min(others)[1])]
        rule, rival, ours, theirs = between(mine, behind)
        return replace(found, rule=rule, rival=rival, mine=ours, theirs=theirs)

    def _takes(self, capacity: NodeCapacity, files: InputCopies | None) -> bool:
        """Return whether a node can take a package, now or later."""
        has_room = not self._with_room or capacity.has_room(
            self._requirement, is_brought=capacity.brings(files)
        )
        return has_room and capacity.takes_inputs(files)

    def _near(self, places: Mapping[int, int]) -> list[NodeCapacity]:
        """Return the nodes of the clusters that have inputs."""
        return [capacity for cluster in places for capacity in self._by_cluster.get(cluster, ())]

    def _rank_of(
        self, capacity: NodeCapacity, places: Mapping[int, int], files: InputCopies | None
    ) -> Rank:
        here = places.get(capacity.node.cluster, 0)
        cost = self._cost(capacity, places, files)
        return self._rank(capacity, cost, here, capacity.brings(files))

    def _cost(
        self, capacity: NodeCapacity | None, places: Mapping[int, int], files: InputCopies | None
    ) -> Cost:
        if capacity is None:
            return NO_COST
        return capacity.cost(self._requirement, places, files, self._links)

    def _rank(self, capacity: NodeCapacity, cost: Cost, here: int, brings: bool) -> Rank:
        is_timed = cost.run_s is not None and not self._requirement.is_short
        room = (capacity.rest if brings else capacity.free) + capacity.extra
        return (
            -self._requirement.preferred.get(capacity.node.name, 0.0),
            cost.end_s if is_timed else 0.0,
            not capacity.starts(self._requirement),
            -here,
            -room / capacity.node.cpus,
        )

    def _first(self, brings: bool) -> NodeCapacity | None:
        """Return the first of the nodes for packages of whose inputs they have none."""
        heap = self._heaps.get(brings)
        if heap is None:
            heap = [
                (self._rank_without(capacity, brings), i)
                for i, capacity in enumerate(self._capacities)
            ]
            heapq.heapify(heap)
            self._heaps[brings] = heap
        while heap:
            rank, number = heap[0]
            capacity = self._capacities[number]
            if self._with_room and not capacity.has_room(self._requirement, is_brought=brings):
                heapq.heappop(heap)
            elif (now := self._rank_without(capacity, brings)) > rank:
                heapq.heapreplace(heap, (now, number))
            else:
                return capacity
        return None

    def _first_with_space(self, files: InputCopies | None) -> NodeCapacity | None:
        """Return the first of those whose caches have space for the inputs of a package."""
        able = [capacity for capacity in self._capacities if self._takes(capacity, files)]
        return min(able, key=lambda capacity: self._rank_without(capacity, True), default=None)

    def _rank_without(self, capacity: NodeCapacity, brings: bool) -> Rank:
        transfer_s = (
            self._links.seconds(capacity.node.cluster, self._size or 0, 1) if brings else 0.0
        )
        requirement = self._requirement
        run_s = requirement.run_s(capacity.node.speed)
        cost = Cost(transfer_s, capacity.wait_s(requirement), run_s)
        return self._rank(capacity, cost, 0, brings)


def costs(
    requirement: Requirement,
    nodes: Sequence[NodeRoom],
    busy: Mapping[int, Sequence[Busy]],
    links: Links,
    places: Mapping[int, int],
    files: InputCopies | None,
) -> dict[str, Cost]:
    """Return the cost of a package by the name of the node, the lowest first, to explain it."""
    found = {}
    for node in nodes:
        capacity = NodeCapacity(node, node.cpus - node.used, 0, {})
        capacity.set_busy(busy.get(node.id, ()))
        found[node.name] = capacity.cost(requirement, places, files, links)
    return dict(sorted(found.items(), key=lambda pair: pair[1].end_s))
