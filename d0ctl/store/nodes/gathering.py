"""Files for packages that wait for many: copied to where they will run while others are made."""

from collections.abc import Iterable

from d0ctl.schedule.resources import NodeRoom, suited
from d0ctl.store.connection import Store
from d0ctl.store.nodes import placement
from d0ctl.store.nodes.catalogue import Catalogue, requirement_of

LEAST = 16
"""A package that waits for fewer files waits for all of them before any is copied."""

SMALL = 16_000_000
"""Larger files are copied in advance only if their reader can run nowhere else."""

ANY_SIZE = 2**62


def noticed(store: Store) -> list[int]:
    """Return the packages that wait for many files, some of which the last batch has reported."""
    return [row[0] for row in store.rows("gathering_packages", least=LEAST)]


def gather(store: Store, packages: Iterable[int], *, now: float) -> list[int]:
    """Request inputs of waiting packages that exist; return the packages that continue to wait."""
    nodes, catalogue = placement.nodes(store), Catalogue(store)
    waiting = []
    for package in packages:
        row = store.row("waiting_requirement", package=package)
        if row is None:
            continue
        waiting.append(package)
        fitting = suited(requirement_of(row, catalogue), nodes)
        if fitting:
            most = ANY_SIZE if len({node.cluster for node in fitting}) == 1 else SMALL
            cluster = _cluster(store, package, fitting)
            store.change("gather_inputs", package=package, cluster=cluster, most=most, now=now)
    return waiting


def _cluster(store: Store, package: int, nodes: list[NodeRoom]) -> int:
    """Return the cluster that has most of a package's inputs, where the scheduler will send it."""
    places = placement.local_bytes(store, [package]).get(package, {})
    return max(nodes, key=lambda node: (places.get(node.cluster, 0), -node.id)).cluster
