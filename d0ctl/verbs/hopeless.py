"""The only place that says for which packages another try is without hope, and why."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from d0ctl.format import listed
from d0ctl.schedule.place import Demand, NodeRoom, misfit
from d0ctl.store.catalogue import Catalogue, services_of
from d0ctl.store.connection import Row, Store
from d0ctl.store.jobs import retry
from d0ctl.verbs.plan import Changes

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
    for demand in retry.demands(store):
        if why := _no_node(store, retry.changed(demand, changes.wishes)):
            found |= dict.fromkeys(retry.of_demand(store, demand["id"]), why)
    return found


def _no_node(store: Store, asked: Mapping[str, Any]) -> str | None:
    """Why no node can ever take what asks for this; None where one can, or there is none yet."""
    catalogue = Catalogue(store)
    demand = Demand(
        id=0,
        ready=1,
        cpus=asked["cpus"],
        memory=asked["memory"],
        platform=asked["platform"],
        nodes=json.loads(asked["nodes"]),
        exclude_nodes=json.loads(asked["exclude_nodes"]),
        software=catalogue.platforms(asked["software"]),
        needs=catalogue.needs(asked["software"], asked["needs"]),
    )
    objections = [_against(row, demand) for row in store.rows("node_rooms")]
    if not objections or None in objections:
        return None
    return f"no node can take it: {listed(str(one) for one in objections[:3])}"


def _against(row: Row, demand: Demand) -> str | None:
    """What speaks against a node for ever; nothing but names does before it was reached."""
    known = row["state"] != "unknown"
    room = NodeRoom(
        id=row["id"],
        name=row["name"],
        cluster=row["cluster"],
        cpus=row["cpus"] if known else demand.cpus,
        used=0,
        memory=row["memory"],
        platform=row["platform"] if known else demand.platform,
        services=services_of(row),
    )
    unfit = misfit(demand if known else replace(demand, software={}), room)
    return f"`{row['name']}` is ruled out ({unfit})" if unfit else None
