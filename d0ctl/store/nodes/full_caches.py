"""Caches with a capacity that are full, and whether they may get room without a person."""

from collections.abc import Collection, Sequence

from msgspec.structs import replace

from d0ctl.schedule.node_state import NodeState, serves
from d0ctl.schedule.resources import Requirement
from d0ctl.schedule.standstill import Cause, Standing
from d0ctl.store.connection import Store, as_json
from d0ctl.store.nodes import placement

FEW, MOST = 10, 1_000
"""How many of the oldest packages with a requirement are considered: a few, as most have inputs
that fit, then more than nodes without packages take in a pass of the scheduler.
"""

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
    left = {node.room.cluster: node.cache_left for node in able if node.cache_left is not None}
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
