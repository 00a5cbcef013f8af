"""How full caches become: by the packages on their nodes, and by ready packages."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from math import inf

from msgspec import Struct

from d0ctl.schedule.costs import Cost
from d0ctl.schedule.node_capacity import Busy, NodeCapacity
from d0ctl.schedule.resources import NodeRoom, Requirement, misfit

HORIZON_S = 24 * 3600.0
"""How far a profile looks ahead."""

MOST_PLANNED = 1_000
"""How many ready packages are planned."""

MARGIN = 0.01
"""A cache is full if this part of its capacity is exceeded: a forecast is no more exact."""

UNKNOWN_S = 600.0
"""The run time assumed for a package if nothing is known."""


class Cache(Struct, frozen=True):
    """The cache of a cluster: its capacity in bytes, None if unknown, and the bytes in use.

    `free` is what its disk has free, if that is less than the rest of the capacity.
    """

    cluster: int
    name: str
    space: int | None
    used: int
    free: int | None = None

    @property
    def holds(self) -> int | None:
        """How many bytes it can have: with little free space on its disk less than its capacity."""
        return self.space if self.free is None else self.used + self.free


class Change(Struct, frozen=True):
    """This many more bytes in a cache, or fewer, in some seconds."""

    at_s: float
    cluster: int
    bytes: float


class Alike(Struct, frozen=True):
    """Ready packages with a requirement: the space of one of them in a cache.

    `inputs` are the bytes that it reads, by the clusters that have them, 0 for all; `freed` are the
    bytes that no package needs after it, likewise.
    """

    requirement: Requirement
    inputs: Mapping[int, float]
    freed: Mapping[int, float]
    work: float
    outputs: float


class Profile(Struct, frozen=True):
    """The bytes in a cache from now on: `points` are times in seconds, and the bytes from then."""

    cache: Cache
    points: Sequence[tuple[float, int]]

    @property
    def peak(self) -> tuple[float, int]:
        """When it is fullest, and how many bytes it then has."""
        return max(self.points, key=lambda point: (point[1], -point[0]))

    @property
    def full_s(self) -> float | None:
        """In how many seconds its capacity is exceeded; None if that is not expected."""
        if self.cache.holds is None:
            return None
        most = self.cache.holds * (1 + MARGIN)
        return next((at for at, has in self.points if has > most), None)

    def rows(self, step_s: float) -> list[tuple[float, int]]:
        """Return the most bytes in each period that begins at a multiple of `step_s`."""
        found, last = list[tuple[float, int]](), self.cache.used
        for part, of_part in groupby(self.points, key=lambda point: int(point[0] // step_s)):
            points = [has for _, has in of_part]
            found.append((part * step_s, max(last, *points) if part else max(points)))
            last = points[-1]
        return found


def profiles(caches: Sequence[Cache], changes: Sequence[Change]) -> list[Profile]:
    """Return how caches fill by these changes."""
    found = []
    for cache in caches:
        own = sorted((max(0.0, change.at_s), change.bytes) for change in changes
                     if change.cluster == cache.cluster and change.at_s <= HORIZON_S)  # fmt: skip
        has, points = float(cache.used), {0.0: cache.used}
        for at_s, size in own:
            has += size
            points[at_s] = round(max(0.0, has))
        found.append(Profile(cache, list(points.items())))
    return found


def planned(
    nodes: Sequence[NodeRoom],
    busy: Mapping[int, Sequence[Busy]],
    ready: Sequence[Alike],
    others: Sequence[Change] = (),
) -> list[Change]:
    """Return the changes by ready packages if each goes where it ends first, in their order.

    None goes to a cache whose rest, after the `others` changes and those by the packages before it,
    is less than it requests, or than its inputs need.
    """
    capacities = [NodeCapacity(node, node.cpus, node.cpus, {}) for node in nodes]
    for capacity in capacities:
        capacity.set_busy(busy.get(capacity.node.id, ()))
    rests: dict[int, float] = {}
    for node in nodes:
        if node.disk_free is not None:
            rests[node.cluster] = min(rests.get(node.cluster, inf), node.disk_free)
    for change in others:
        if change.cluster in rests:
            rests[change.cluster] -= change.bytes
    changes: list[Change] = []
    left = MOST_PLANNED
    for group in ready:
        wanted = group.requirement
        fits = [
            capacity
            for capacity in capacities
            if misfit(wanted, capacity.node) is None and _has_room(group, capacity.node, rests)
        ]
        for _ in range(min(wanted.ready, left)):
            if not fits:
                break
            cost, capacity = min(
                ((_cost(wanted, capacity), capacity) for capacity in fits),
                key=lambda pair: pair[0].end_s,
            )
            if cost.start_s > HORIZON_S:
                break
            capacity.occupy(wanted, cost)
            own, cluster = _changes(group, capacity.node.cluster, cost), capacity.node.cluster
            changes += own
            left -= 1
            if cluster in rests:
                rests[cluster] -= sum(each.bytes for each in own if each.cluster == cluster)
                fits = [each for each in fits if _has_room(group, each.node, rests)]
    return changes


def _has_room(group: Alike, node: NodeRoom, rests: Mapping[int, float]) -> bool:
    needs = max(group.requirement.space or 0, _brought(group, node.cluster))
    return max(0.0, rests.get(node.cluster, inf)) >= needs


def _brought(group: Alike, cluster: int) -> float:
    """Return the bytes of inputs that have to be copied to a cache for one package."""
    return group.inputs.get(0, 0.0) - group.inputs.get(cluster, 0.0)


def _cost(wanted: Requirement, capacity: NodeCapacity) -> Cost:
    seconds = wanted.pace if wanted.seconds is None else wanted.seconds
    run_s = (UNKNOWN_S if seconds is None else seconds) / capacity.node.speed
    return Cost(0.0, capacity.wait_s(wanted), run_s)


def _changes(group: Alike, cluster: int, cost: Cost) -> list[Change]:
    found = [
        Change(cost.start_s, cluster, _brought(group, cluster) + group.work),
        Change(cost.end_s, cluster, group.outputs - group.work - group.freed.get(0, 0.0)),
    ]
    found += [Change(cost.end_s, other, -size) for other, size in group.freed.items()
              if other not in (0, cluster)]  # fmt: skip
    return [change for change in found if change.bytes]
