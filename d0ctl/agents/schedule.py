"""Which package goes where: the store is asked, the pure scheduler decides."""

from d0ctl.agents.control import Control
from d0ctl.schedule.place import place
from d0ctl.store import schedule as store_schedule
from d0ctl.store.finish import sweep
from d0ctl.store.require import let_go_on


def schedule(control: Control, now: float) -> None:
    """ready -> assigned, for as many packages as there is room."""
    store = control.store
    store_schedule.advance(store, now=now)
    nodes = store_schedule.nodes(store)
    demands = store_schedule.demands(store, control.job)
    if not nodes or not demands:
        return
    decisions = place(
        nodes,
        demands,
        lambda demand, limit: store_schedule.oldest(store, demand, limit),
        lambda packages: store_schedule.local_bytes(store, packages),
    )
    if decisions:
        store_schedule.assign(store, decisions, now=now)


def finish(control: Control, now: float) -> None:
    """Carry on what ends jobs, and note which can't move any more without a person."""
    sweep(control.store, now=now)
    let_go_on(control.store, now=now)
    store_schedule.end_jobs(control.store, now=now)
