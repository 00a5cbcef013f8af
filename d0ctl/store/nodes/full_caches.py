"""Caches with a capacity that are full, and whether they get room without a person."""

from collections.abc import Callable, Collection, Sequence

from msgspec.structs import replace

from d0ctl.schedule.node_state import NodeState, serves
from d0ctl.schedule.resources import NodeRoom, Requirement, misfit
from d0ctl.schedule.standstill import Cause, Standing
from d0ctl.store.connection import Store, as_json
from d0ctl.store.nodes import placement

FEW, MOST = 10, 1_000
"""How many of the oldest packages with a requirement are considered: a few, as most have inputs
that fit, then more than nodes without packages take in a pass of the scheduler.
"""

MOST_KINDS = 100
"""For how many requirements space is made, at most, the most urgent first."""

MOST_COPIES = 10_000
"""Of a cache with more copies, other jobs are expected to need some."""


def with_inputs(
    store: Store, requirements: Sequence[Requirement], nodes: Sequence[NodeState]
) -> list[Requirement]:
    """Return requirements with the bytes that packages bring to caches without packages.

    These are read only if no other node takes such packages.
    """
    return [_with_inputs(store, requirement, nodes) for requirement in requirements]


def _with_inputs(store: Store, requirement: Requirement, nodes: Sequence[NodeState]) -> Requirement:
    if not requirement.fetches:
        return requirement
    able = [node for node in nodes if serves(node, requirement)]
    left = {node.room.cluster: node.cache_left + node.cache_spare
            for node in able if node.cache_left is not None}  # fmt: skip
    if not left or any(node.cache_left is None for node in able):
        return requirement
    for limit in (FEW, MOST):
        brought = _least_brought(store, requirement, left, limit)
        if requirement.ready <= limit or any(brought[cluster] <= left[cluster] for cluster in left):
            break
    return replace(requirement, brought=brought)


def _least_brought(
    store: Store, requirement: Requirement, clusters: Collection[int], limit: int
) -> dict[int, int]:
    """Return the fewest bytes that one of the oldest packages brings to each of these clusters."""
    packages = placement.oldest(store, requirement.id, limit)
    absent = placement.absent_inputs(store, packages)
    return {
        cluster: min((sum(absent.get(package, {}).get(cluster, {}).values())
                      for package in packages), default=0)
        for cluster in clusters
    }  # fmt: skip


def space_to_make(
    store: Store,
    requirements: Sequence[Requirement],
    nodes: Sequence[NodeRoom],
    spare_bytes: Callable[[int], int],
) -> dict[int, int]:
    """Return on which nodes with free CPUs to remove how many bytes of the copies that stay only
    while there is space: those without which a ready package fits into no cache.
    """
    bounded = {row["id"] for row in store.rows("bounded_clusters")}
    found: dict[int, int] = {}
    for wanted in requirements[:MOST_KINDS] if bounded else ():
        if wanted.early or wanted.stay:
            continue
        able = [node for node in nodes if node.on_trial is None and not node.disk_short
                and misfit(wanted, node) is None]  # fmt: skip
        brought = _least_brought(store, wanted, bounded, FEW) if wanted.fetches and able else {}
        missing = {node.id: _missing(wanted, node, brought.get(node.cluster, 0)) for node in able}
        if any(lacks <= 0 for lacks in missing.values()):
            continue
        for node in able:
            number = min(wanted.ready, int((node.cpus - node.used) // wanted.load))
            if number < 1 or node.cluster not in bounded:
                continue
            if (spare := spare_bytes(node.id)) >= missing[node.id]:
                more = (number - 1) * (wanted.space or 0)
                found.setdefault(node.id, min(spare, missing[node.id] + more))
                break
    return found


def _missing(wanted: Requirement, node: NodeRoom, brought: int) -> int:
    """Return how many bytes the cache of a node lacks for a package and for its inputs."""
    needs = max(wanted.space or 0, brought)
    return 0 if node.disk_free is None else needs - max(0, node.disk_free - node.disk_used)


def unless_freed(
    store: Store, standing: Standing, nodes: Sequence[NodeState], others: Collection[int]
) -> Standing:
    """Return the standing of a job; it moves if the caches that it waits for may get room.

    Files that `others`, jobs that go on, have made or read are removed once no package needs them.
    """
    if standing.cause is not Cause.NO_SPACE:
        return standing
    full = sorted({node.room.cluster for node in nodes if node.room.name in standing.why_unfit})
    if not store.value("caches_may_change", clusters=as_json(full), jobs=as_json(sorted(others)),
                       limit=MOST_COPIES):  # fmt: skip
        return standing
    return replace(standing, moves=True, returns=False, cause=None)
