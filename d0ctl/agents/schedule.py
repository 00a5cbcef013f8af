"""Which package goes where: the store is asked, the pure scheduler decides."""

from d0ctl.agents.control import Control
from d0ctl.schedule.early import MOST_OPEN, place_open
from d0ctl.schedule.place import Decision, place
from d0ctl.store import Store
from d0ctl.store import schedule as store_schedule
from d0ctl.store.jobs.finish import sweep
from d0ctl.store.jobs.require import let_go_on
from d0ctl.store.runs import conduct


def schedule(control: Control, now: float) -> None:
    """ready -> assigned, for as many packages as there is room."""
    store = control.store
    store_schedule.advance(store, now=now)
    decisions = decide(store, control.job, now=now)
    if decisions:
        store_schedule.assign(store, decisions, now=now)


def decide(store: Store, job: int | None = None, *, now: float) -> list[Decision]:
    """What is to go where, of one job or of all."""
    nodes = store_schedule.nodes(store, now=now)
    demands = store_schedule.demands(store, job)
    if not nodes or not demands:
        return []
    demands = conduct.left_out(store, demands, nodes)
    demands, rooms = conduct.mistrust(store, demands, nodes, now)
    decisions = place(
        nodes,
        demands,
        lambda demand, limit: store_schedule.oldest(store, demand, limit),
        lambda packages: store_schedule.local_bytes(store, packages),
        lambda packages: store_schedule.brought(store, packages),
        rooms,
    )
    for demand in demands:
        if demand.early:
            limit = min(demand.ready, MOST_OPEN * len(nodes))
            packages = store_schedule.waiting_open(store, demand.id, limit)
            local = store_schedule.local_bytes(store, packages)
            decisions += place_open(nodes, demand, packages, local)
    return decisions


def finish(control: Control, now: float) -> None:
    """Carry on what ends jobs, and note which can't move any more without a person."""
    sweep(control.store, now=now)
    let_go_on(control.store, now=now)
    store_schedule.end_jobs(control.store, now=now)
