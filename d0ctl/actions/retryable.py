"""The only place that says for which packages another try is without hope, and why."""

import json
import time
from collections.abc import Mapping
from typing import Any

from d0ctl.actions.plan import Changes
from d0ctl.schedule.place import Demand
from d0ctl.store.connection import Store
from d0ctl.store.jobs import retry
from d0ctl.store.nodes.catalogue import Catalogue
from d0ctl.store.nodes.fitting import Nodes, in_words

AT_A_LIMIT = {
    "out-of-memory": "it ended for want of memory and would have no more: --memory SIZE",
    "wall-time": "it ran out of time and would have no more: --wall-time TIME",
}


def hopeless(store: Store, changes: Changes) -> dict[int, str]:
    """Chosen packages that would fail again, or never start, with a clause that says why."""
    found: dict[int, str] = {}
    for row in store.rows("hopeless_reasons", memory=changes.memory, wall_time=changes.wall_time):
        found[row["id"]] = AT_A_LIMIT[row["reason"]]
    for row in store.rows("hopeless_inputs"):
        found[row["id"]] = f"it needs file `{row['name']}` of a dropped line"
    nodes, catalogue = Nodes(store, now=time.time()), Catalogue(store)
    for demand in retry.demands(store):
        if why := _no_node(nodes, catalogue, retry.changed(demand, changes.wishes)):
            found |= dict.fromkeys(retry.of_demand(store, demand["id"]), why)
    return found


def _no_node(nodes: Nodes, catalogue: Catalogue, asked: Mapping[str, Any]) -> str | None:
    """Return why no node can ever take packages that ask for this; None if one can."""
    demand = Demand(
        id=0,
        ready=1,
        cpus=asked["cpus"],
        memory=asked["memory"],
        space=asked["space"],
        platform=asked["platform"],
        nodes=json.loads(asked["nodes"]),
        exclude_nodes=json.loads(asked["exclude_nodes"]),
        software=catalogue.platforms(asked["software"]),
        needs=catalogue.needs(asked["software"], asked["needs"]),
    )
    reasons = nodes.misfits(demand)
    return f"no node can take it: {in_words(reasons)}" if reasons else None
