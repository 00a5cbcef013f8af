"""Why no node has taken a ready package: which are ruled out, and which are full."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from d0ctl.schedule.resources import Requirement, misfit
from d0ctl.show.why import pilots
from d0ctl.show.why.common import MOST, objection, requirement_of, room_of, usage
from d0ctl.show.why.phases import (
    broker,
    candidates,
    node_pauses,
    recovery,
    shares,
    throttling,
)
from d0ctl.show.why.phases.smaller_request import options_for
from d0ctl.show.why.subject import Subject
from d0ctl.store.clusters.pilots import alive, batch_systems
from d0ctl.store.connection import Row
from d0ctl.store.nodes import placement, registry
from d0ctl.store.nodes.standstill import any_driver
from d0ctl.store.views import dependencies
from d0ctl.units import count, iso, listed, moment, size

REQUESTS: Mapping[str, dict[str, Any]] = {
    "its node list": {"nodes": ()}, "the nodes it excludes": {"exclude_nodes": ()},
    "its platform": {"platform": None}, "its software": {"software": {}},
    "the services it needs": {"needs": ()}, "its cpus": {"cpus": 1}, "its memory": {"memory": None},
    "its disk": {"space": None},
}  # fmt: skip
"""Each thing that a package requests of a node, and the value that drops it."""

_OWN_PART = re.compile(" since | until |:")
"""Begins the part of an objection that is about one node only."""

VERBS = {"is": "are", "has": "have", "pauses": "pause"}


def room(subject: Subject) -> str:
    """Return why no node has taken it yet; add a fact for each node, or each group of nodes."""
    explanation, rows = subject.explanation, registry.capacities(subject.store)
    requirement = requirement_of(subject.store, subject.package)
    out = {row["name"]: why for row in rows if (why := objection(row, requirement, subject.now))}
    out |= node_pauses.objection(subject, [row for row in rows if row["name"] not in out])
    out |= broker.objection(subject, [row for row in rows if row["name"] not in out])
    fits = [row for row in rows if row["name"] not in out]
    explanation.facts += grouped(out)
    explanation.details["nodes"] = [
        {"node": row["name"], "against": out.get(row["name"]), "cpus": row["cpus"],
         "used": row["used"], "taken": iso(row["taken"])} for row in rows
    ]  # fmt: skip
    fits = recovery.without_last_node(subject.package, fits, explanation)
    coming = _pilots(subject, requirement)
    explanation.facts += coming
    if not rows and not coming:
        explanation.commands.append("d0ctl node add NAME [user@]host")
        return "there is no node at all"
    if not any_driver(subject.store):
        explanation.commands += ["d0ctl daemon start", f"d0ctl run {subject.package.job}"]
        return "no daemon is running"
    if not fits and coming:
        explanation.commands.append("d0ctl cluster list")
        return "it waits for a pilot"
    if not fits:
        _suggest_nodes(subject, rows, requirement)
        _close_matches(subject, rows, requirement)
        explanation.commands.append("d0ctl node list")
        return "no node can take it"
    why = _turn(subject, fits)
    if "full_since" in explanation.details:
        _suggest_nodes(subject, [row for row in rows if row["name"] in out], requirement)
        explanation.commands.append(
            f"d0ctl why {fits[0]['name']}" if len(fits) == 1 else "d0ctl node list"
        )
    return why


def _pilots(subject: Subject, requirement: Requirement) -> list[str]:
    """Return how far pilots are that could take it."""
    return [
        pilots.fact(system.name, alive(subject.store, system.id))
        for system in batch_systems(subject.store)
        if misfit(requirement, system.room) is None
    ]


def _turn(subject: Subject, fits: Sequence[Row]) -> str:
    """Return why none of the nodes that could take it has done so."""
    one, explanation = subject.package, subject.explanation
    requirement = requirement_of(subject.store, subject.package)
    if one.stay:
        return (
            f"it starts on {_names(fits)} as soon as its turn comes: it only delivers its outputs"
        )
    if (share := shares.standing(subject)) is not None:
        explanation.facts.append(share)
    lacking = {row["name"]: why for row in fits if (why := _lacks(row, requirement))}
    allowed = throttling.allowances(subject, fits)
    throttled = {
        row["name"]: why for row in fits if (why := throttling.of_node(subject, allowed, row))
    }
    lacking |= throttled
    explanation.facts += [f"node `{name}` {why}" for name, why in list(lacking.items())[:MOST]]
    free = [
        row
        for row in fits
        if row["cpus"] - row["used"] >= requirement.load and row["name"] not in lacking
    ]
    explanation.facts += [
        usage(subject.store, row, subject.now) for row in fits[:MOST] if row not in free
    ]
    costs = candidates.compare(subject, fits, requirement)
    if not free:
        taken = max((row["taken"] for row in fits if row["taken"] is not None), default=None)
        explanation.details["full_since"] = iso(taken)
        since = f" since {moment(taken, subject.now)}" if taken is not None else ""
        if throttled and len(lacking) == len(fits):
            return f"throttles hold it back on {_names(fits[:MOST], 'and')}"
        if len(lacking) == len(fits):
            return f"it waits for memory or disk on {_names(fits[:MOST], 'or')}"
        if len(fits) > MOST:
            return f"no slot is free on any of {len(fits)} nodes{since}"
        return f"no slot is free on {_names(fits)}{since}"
    if limit := _limit(subject) or throttling.of_job(subject, allowed):
        return limit
    if first := dependencies.ready_before(subject.store, one.id):
        is_alone = first["is_own"] or one.priority is not None
        if first["priority"] < 100:
            target = one.path if is_alone else subject.job.name
            explanation.commands.append(f"d0ctl priority {target} {first['priority'] + 1}")
        if first["job_id"] == subject.job.id:
            return f"packages of stage `{first['stage']}` of a higher priority come first"
        explanation.commands.append(f"d0ctl why {first['name']}")
        return f"job `{first['name']}` of a higher priority comes first"
    if better := candidates.later(costs, {row["name"] for row in free}):
        return better
    return f"it starts on {_names(free[:MOST], 'or')} as soon as its turn comes"


def _limit(subject: Subject) -> str | None:
    """Return which `max-running` is reached; None if none is."""
    quota = placement.quota(subject.store)
    row = dependencies.limits_of(subject.store, subject.package.id)
    if quota.stages.get(row["stage_id"], 1) <= 0:
        most = count(row["stage"], "package")
        return f"its stage runs {most} at once, its `max-running`"
    if quota.jobs.get(row["job_id"], 1) <= 0:
        return f"its job runs {count(row['job'], 'package')} at once, its `max-running`"
    return None


def _lacks(row: Row, requirement: Requirement) -> str | None:
    """Return of what too little is left on a node, memory or disk; None if enough."""
    memory, used = row["memory"], row["memory_used"]
    asked = requirement.memory or (requirement.memory_expected if used else None)
    if asked and memory and memory - used < asked:
        verb = "needs" if requirement.memory else "it takes about"
        return f"has {size(max(0, memory - used))} of memory left, {verb} {size(asked)}"
    free, promised = row["disk_free"], row["disk_used"]
    if requirement.space and free is not None and free - promised < requirement.space:
        left = size(max(0, free - promised))
        return f"has {left} of disk left, needs {size(requirement.space)}"
    return None


def grouped(out: Mapping[str, str]) -> list[str]:
    """Say why nodes can't take a package, in groups if there are many."""
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
    """Return an objection without its times, notes and errors, to group alike ones."""
    return why if why.startswith("is ruled out") else _OWN_PART.split(why, maxsplit=1)[0]


def _plural(kind: str) -> str:
    verb, _, rest = kind.partition(" ")
    return f"{VERBS.get(verb, verb)} {rest}"


def _suggest_nodes(subject: Subject, rows: Sequence[Row], requirement: Requirement) -> None:
    """Suggest how suitable nodes that are drained or down may take packages again."""
    for row in rows:
        if misfit(requirement, room_of(row)) is None and len(subject.explanation.commands) < MOST:
            verb = "resume" if row["drained"] and row["state"] != "down" else "check"
            subject.explanation.commands.append(f"d0ctl node {verb} {row['name']}")


def _close_matches(subject: Subject, rows: Sequence[Row], requirement: Requirement) -> None:
    """Say which nodes could take it if a single request were dropped, and suggest an edit."""
    explanation = subject.explanation
    usable = [row for row in rows if row["state"] == "up" and not row["drained"]]
    for request, without in REQUESTS.items():
        able = [
            row for row in usable if misfit(replace(requirement, **without), room_of(row)) is None
        ]
        if able:
            explanation.facts.append(f"without {request}, {_named_or_counted(able)} could take it")
    if options := options_for(requirement, [room_of(row) for row in usable]):
        explanation.commands.append(f"d0ctl edit {subject.package.path}{options}")


def _named_or_counted(rows: Sequence[Row]) -> str:
    return _names(rows) if len(rows) <= MOST else f"{len(rows)} nodes"


def _names(rows: Sequence[Row], last: str = "and") -> str:
    return listed((f"`{row['name']}`" for row in rows), last)
