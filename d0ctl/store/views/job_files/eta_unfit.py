"""Ready packages that no node takes: estimates of their stages and jobs are unknown."""

from collections import Counter
from collections.abc import Iterable

from msgspec.structs import replace

from d0ctl.schedule.estimates import JobLeft
from d0ctl.schedule.horizon import Horizon
from d0ctl.schedule.node_state import serves
from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes.catalogue import Catalogue, requirement_of
from d0ctl.store.nodes.full_caches import with_inputs
from d0ctl.store.nodes.standstill import node_views


def within(store: Store, found: Horizon, requests: Iterable[Row], now: float) -> Horizon:
    """Return what is left of jobs, with the ready packages of some requests that no node takes."""
    catalogue, nodes = Catalogue(store), [view.node for view in node_views(store, now=now)]
    unfit = Counter[tuple[int, int]]()
    for row in requests:
        (requirement,) = with_inputs(store, [requirement_of(row, catalogue)], nodes)
        if not any(serves(node, requirement) for node in nodes):
            unfit[requirement.job, row["seq"]] += requirement.ready
    if not unfit:
        return found

    def with_unfit(id: int, left: JobLeft) -> JobLeft:
        stages = [replace(of, unfit=unfit[id, of.seq]) for of in left.stages]
        return replace(left, stages=stages)

    return replace(found, jobs={id: with_unfit(id, left) for id, left in found.jobs.items()})
