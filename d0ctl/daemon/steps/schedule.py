"""Which package goes where: the store is asked, the pure scheduler decides."""

import time
from collections.abc import Collection
from types import ModuleType

from d0ctl.daemon.control import Control
from d0ctl.schedule.early import MOST_OPEN, place_open
from d0ctl.schedule.place import Decision, place
from d0ctl.store import Store
from d0ctl.store.attempts import node_record
from d0ctl.store.jobs.finish import sweep
from d0ctl.store.jobs.require import let_go_on
from d0ctl.store.nodes import makers
from d0ctl.store.nodes import placement as store_schedule

NEEDED_S = 1.0
"""How often a process that drives one job looks at least which packages of others it needs."""

NEEDED_SHARE = 20
"""It spends one part in so many of its time on that."""


def schedule(control: Control, now: float) -> None:
    """ready -> assigned, for as many packages as there is room."""
    store = control.store
    store_schedule.advance(store, now=now)
    _find_needed(control)
    decisions = decide(store, control.job, now=now)
    if decisions:
        store_schedule.assign(store, decisions, now=now)


def _find_needed(control: Control) -> None:
    """Find the packages of other jobs that the job of this process waits for, from time to time."""
    began = time.monotonic()
    if control.job and began >= control.needed_due:
        makers.find(control.store, control.job)
        took = time.monotonic() - began
        control.needed_due = began + max(NEEDED_S, NEEDED_SHARE * took)


def decide(store: Store, job: int | None = None, *, now: float) -> list[Decision]:
    """What is to go where, of all jobs, or of one and the packages of others that it needs."""
    nodes = store_schedule.nodes(store, now=now)
    demands = store_schedule.demands(store, job)
    if job is not None:
        demands = makers.demands(store) + demands
    if not nodes or not demands:
        return []
    others = {demand.id for demand in demands if job not in (None, demand.job)}
    demands = node_record.left_out(store, demands, nodes)
    demands, rooms = node_record.mistrust(store, demands, nodes, now)
    decisions = place(
        nodes,
        [demand for demand in demands if not demand.stay],
        lambda demand, limit: _list_of(demand, others).oldest(store, demand, limit),
        lambda packages: store_schedule.local_bytes(store, packages),
        lambda packages: store_schedule.brought(store, packages),
        rooms,
    )
    for demand in demands:
        if demand.early or demand.stay:
            limit = min(demand.ready, MOST_OPEN * len(nodes))
            ready = _list_of(demand.id, others)
            find = ready.oldest if demand.stay else ready.waiting_open
            packages = find(store, demand.id, limit)
            local = store_schedule.local_bytes(store, packages)
            decisions += place_open(nodes, demand, packages, local)
    return decisions


def _list_of(demand: int, others: Collection[int]) -> ModuleType:
    """Return who lists the ready packages of a demand: of other jobs only those needed count."""
    return makers if demand in others else store_schedule


def finish(control: Control, now: float) -> None:
    """Carry on what ends jobs, and note which can't move any more without a person."""
    sweep(control.store, now=now)
    let_go_on(control.store, now=now)
    store_schedule.end_jobs(control.store, now=now)
