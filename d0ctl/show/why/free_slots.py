"""Why no node takes a ready package: which are ruled out by what, which are full since when."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from d0ctl.schedule.place import Demand, misfit
from d0ctl.show.why import node_pauses, recovery
from d0ctl.show.why.common import MOST, against, demand_of, room_of, takers
from d0ctl.show.why.subject import Case
from d0ctl.store.connection import Row
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.standstill import any_driver
from d0ctl.store.views import dependencies
from d0ctl.units import iso, listed, moment, size

WISHES: Mapping[str, dict[str, Any]] = {
    "its node list": {"nodes": ()}, "the nodes it excludes": {"exclude_nodes": ()},
    "its platform": {"platform": None}, "its software": {"software": {}},
    "the services it needs": {"needs": ()}, "its cpus": {"cpus": 1}, "its memory": {"memory": None},
    "its disk": {"space": None},
}  # fmt: skip
"""What a package asks of a node, and a demand without it."""

_OWN = re.compile(" since | until |:")
"""What begins the part of an objection that is for one node."""

VERBS = {"is": "are", "has": "have", "pauses": "pause"}


def room(case: Case) -> str:
    """Why no node has taken it yet; facts say it of each node, or of each kind of them."""
    told, rows = case.told, registry.capacities(case.store)
    demand = demand_of(case.store, case.package)
    out = {row["name"]: why for row in rows if (why := against(row, demand, case.now))}
    out |= node_pauses.against(case, [row for row in rows if row["name"] not in out])
    fits = [row for row in rows if row["name"] not in out]
    told.facts += grouped(out)
    told.details["nodes"] = [
        {"node": row["name"], "against": out.get(row["name"]), "cpus": row["cpus"],
         "used": row["used"], "taken": iso(row["taken"])} for row in rows
    ]  # fmt: skip
    fits = recovery.but_last(case.package, fits, told)
    if not rows:
        told.commands.append("d0ctl node add NAME [user@]host")
        return "there is no node at all"
    if not any_driver(case.store):
        told.commands += ["d0ctl daemon start", f"d0ctl run {case.package.job}"]
        return "nothing drives it: no daemon is running"
    if not fits:
        _reopen(case, rows, demand)
        _what_if(case, rows, demand)
        told.commands.append("d0ctl node list")
        return "no node can take it"
    why = _turn(case, fits)
    if "full_since" in told.details:
        _reopen(case, [row for row in rows if row["name"] in out], demand)
        told.commands.append(
            f"d0ctl why {fits[0]['name']}" if len(fits) == 1 else "d0ctl node list"
        )
    return why


def _turn(case: Case, fits: Sequence[Row]) -> str:
    """Why none of the nodes that could take it has done so."""
    one, told = case.package, case.told
    demand = demand_of(case.store, case.package)
    if one.stay:
        return (
            f"it starts on {_names(fits)} as soon as its turn comes: it only delivers its outputs"
        )
    lacking = {row["name"]: why for row in fits if (why := _lacks(row, demand))}
    told.facts += [f"node `{name}` {why}" for name, why in list(lacking.items())[:MOST]]
    free = [row for row in fits
            if row["cpus"] - row["used"] >= one.cpus and row["name"] not in lacking]  # fmt: skip
    told.facts += [takers(case.store, row, case.now) for row in fits[:MOST] if row not in free]
    if not free:
        taken = max((row["taken"] for row in fits if row["taken"] is not None), default=None)
        told.details["full_since"] = iso(taken)
        since = f" since {moment(taken, case.now)}" if taken is not None else ""
        if len(lacking) == len(fits):
            return f"it waits for memory or disk on {_names(fits[:MOST], 'or')}"
        if len(fits) > MOST:
            return f"no slot is free on any of {len(fits)} nodes{since}"
        return f"no slot is free on {_names(fits)}{since}"
    if first := dependencies.job_before(case.store, case.job.id):
        if first["priority"] < 100:
            told.commands.append(f"d0ctl priority {case.job.name} {first['priority'] + 1}")
        told.commands.append(f"d0ctl why {first['name']}")
        return f"job `{first['name']}` of a higher priority comes first"
    return f"it starts on {_names(free[:MOST], 'or')} as soon as its turn comes"


def _lacks(row: Row, demand: Demand) -> str | None:
    """What the packages on a node leave too little of: memory or disk."""
    memory, used = row["memory"], row["memory_used"]
    if demand.memory and memory and memory - used < demand.memory:
        return f"has {size(max(0, memory - used))} of memory left, needs {size(demand.memory)}"
    free, promised = row["disk_free"], row["disk_used"]
    if demand.space and free is not None and free - promised < demand.space:
        left = size(max(0, free - promised))
        return f"has {left} of disk left, needs {size(demand.space)}"
    return None


def grouped(out: Mapping[str, str]) -> list[str]:
    """What speaks against nodes: of each, or where they are many, of those alike together."""
    if len(out) <= MOST:
        return [f"node `{name}` {why}" for name, why in out.items()]
    kinds: dict[str, list[str]] = {}
    for name, why in out.items():
        kinds.setdefault(_kind(why), []).append(name)
    facts = []
    for kind, names in sorted(kinds.items(), key=lambda pair: -len(pair[1])):
        if len(names) == 1:
            facts.append(f"node `{names[0]}` {out[names[0]]}")
            continue
        more = [f"{len(names) - MOST:,} more"] if len(names) > MOST else []
        listing = listed([f"`{name}`" for name in names[:MOST]] + more)
        facts.append(f"{len(names):,} nodes {_plural(kind)}: {listing}")
    return facts


def _kind(why: str) -> str:
    """What an objection has in common with others: without times, notes and troubles."""
    return why if why.startswith("is ruled out") else _OWN.split(why, maxsplit=1)[0]


def _plural(kind: str) -> str:
    verb, _, rest = kind.partition(" ")
    return f"{VERBS.get(verb, verb)} {rest}"


def _reopen(case: Case, rows: Sequence[Row], demand: Demand) -> None:
    """Say how nodes that are drained or down, and would do, may take it again."""
    for row in rows:
        if misfit(demand, room_of(row)) is None and len(case.told.commands) < MOST:
            verb = "resume" if row["drained"] and row["state"] != "down" else "check"
            case.told.commands.append(f"d0ctl node {verb} {row['name']}")


def _what_if(case: Case, rows: Sequence[Row], demand: Demand) -> None:
    """Tell which nodes could take it if just one wish were otherwise."""
    told = case.told
    usable = [row for row in rows if row["state"] == "up" and not row["drained"]]
    for wish, without in WISHES.items():
        able = [row for row in usable if misfit(replace(demand, **without), room_of(row)) is None]
        if able:
            told.facts.append(f"but for {wish}, {_some(able)} could take it")


def _some(rows: Sequence[Row]) -> str:
    return _names(rows) if len(rows) <= MOST else f"{len(rows)} nodes"


def _names(rows: Sequence[Row], last: str = "and") -> str:
    return listed((f"`{row['name']}`" for row in rows), last)
