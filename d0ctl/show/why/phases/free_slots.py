"""Why no node has taken a ready package: which are ruled out, and which are full."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from d0ctl.model import NodeCapacity
from d0ctl.schedule.resources import NodeRoom, Requirement, misfit
from d0ctl.show.why import pilots
from d0ctl.show.why.common import MOST, Objection, named, objection
from d0ctl.show.why.phases import (
    broker,
    node_pauses,
    recovery,
)
from d0ctl.show.why.subject import NO_NODE, Subject
from d0ctl.store.clusters.pilots import alive, batch_systems
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.catalogue import requirement_of_package, room_of
from d0ctl.store.nodes.holder import drives
from d0ctl.store.nodes.standstill import node_views
from d0ctl.store.views import one_package
from d0ctl.store.views.shapes.of_package import PeakUse
from d0ctl.units import count, format_size, listed, moment, size, with_unit

REQUESTS: Mapping[str, dict[str, Any]] = {
    "its node list": {"nodes": ()}, "the nodes it excludes": {"exclude_nodes": ()},
    "its platform": {"platform": None}, "its software": {"software": {}},
    "the services it needs": {"needs": ()}, "its cpus": {"cpus": 1}, "its memory": {"memory": None},
    "its GPUs": {"gpus": 0}, "its disk": {"space": None},
}  # fmt: skip
"""Each thing that a package requests of a node, and the value that drops it."""


def why_not_taken(subject: Subject) -> str:
    """Return why no node has taken it yet; add a fact for each node, or each group of nodes."""
    explanation, rows = subject.explanation, registry.capacities(subject.store)
    requirement = requirement_of_package(subject.store, subject.package.id)
    out = {
        row.name: against for row in rows if (against := objection(row, requirement, subject.now))
    }
    out |= node_pauses.objection(subject, [row for row in rows if row.name not in out])
    out |= broker.objection(subject, [row for row in rows if row.name not in out])
    fits = [row for row in rows if row.name not in out]
    resting = {name: why.until for name, why in out.items() if why.until is not None}
    avoided = recovery.avoided(subject.package, fits, pausing=resting)
    out |= avoided
    is_driven = drives(subject.store, subject.job.id)
    away = 0
    if is_driven and any(row.state == "down" for row in rows):
        from d0ctl.show.why.causes import inputs_away  # late: mostly, all nodes are up

        away = inputs_away.add(subject)
    known = explanation.details.get("nodes_down", ())
    explanation.facts += grouped({name: why for name, why in out.items() if name not in known})
    explanation.details["nodes"] = [
        {"node": row.name, "against": out[row.name].text if row.name in out else None,
         "cpus": row.cpus, "used": row.used} for row in rows
    ]  # fmt: skip
    fits = [row for row in fits if row.name not in avoided]
    coming = _pilots(subject, requirement)
    explanation.facts += coming
    if not rows and not coming:
        explanation.commands.append("d0ctl node add NAME [user@]host")
        return "there are no nodes"
    if not is_driven:
        explanation.commands += ["d0ctl daemon start", f"d0ctl run {subject.package.job}"]
        return "no daemon is running"
    if not fits and coming:
        explanation.commands.append("d0ctl cluster list")
        return "it waits for a pilot"
    if not fits and resting:
        explanation.commands.append("d0ctl node list")
        return _resting(resting, subject.now)
    if not fits:
        _suggest_nodes(subject, rows, requirement)
        _full_too(subject, rows, requirement)
        if not away:
            close_matches(subject, rows, requirement)
        explanation.commands.append("d0ctl node list")
        return NO_NODE
    if away:
        return f"{count(away, 'input')} can't be copied now"
    from d0ctl.show.why.phases.queue_position import why_queued

    why = why_queued(subject, fits, requirement)
    if "is_no_node_free" in explanation.details:
        _suggest_nodes(subject, [row for row in rows if row.name in out], requirement)
        explanation.commands.append(
            f"d0ctl why {fits[0].name}" if len(fits) == 1 else "d0ctl node list"
        )
    return why


def _resting(until: Mapping[str, float], now: float) -> str:
    """Say for which of the nodes that pause it waits, and until when."""
    first = min(until, key=lambda name: until[name])
    if len(until) == 1:
        return f"it waits for `{first}`, which pauses until {moment(until[first], now)}"
    return f"it waits for nodes that pause, `{first}` only until {moment(until[first], now)}"


def _pilots(subject: Subject, requirement: Requirement) -> list[str]:
    """Return the state of pilots that could take it."""
    return [
        pilots.fact(system, alive(subject.store, system.id), subject.now)
        for system in batch_systems(subject.store)
        if system.brings(requirement)
    ]


def grouped(out: Mapping[str, Objection]) -> list[str]:
    """Say why nodes can't take a package, in groups if there are many."""
    if len(out) <= MOST:
        return [f"node `{name}` {why.text}" for name, why in out.items()]
    kinds: dict[str, list[str]] = {}
    for name, why in out.items():
        kinds.setdefault(why.many, []).append(name)
    facts = []
    for kind, names in sorted(kinds.items(), key=lambda pair: -len(pair[1])):
        if len(names) == 1:
            facts.append(f"node `{names[0]}` {out[names[0]].text}")
            continue
        more = [f"{len(names) - MOST:,} more"] if len(names) > MOST else []
        listing = listed([f"`{name}`" for name in names[:MOST]] + more)
        facts.append(f"{len(names):,} nodes {kind}: {listing}")
    return facts


def _suggest_nodes(
    subject: Subject, rows: Sequence[NodeCapacity], requirement: Requirement
) -> None:
    """Suggest how suitable nodes that are drained or down may take packages again."""
    suitable = {row.name for row in rows if misfit(requirement, room_of(row)) is None}
    if not suitable:
        return
    from d0ctl.show.why.production import suggestion  # late: most nodes take packages

    commands = subject.explanation.commands
    for view in node_views(subject.store):
        if view.name in suitable and len(commands) < MOST:
            commands.append(suggestion(view))


def _full_too(subject: Subject, rows: Sequence[NodeCapacity], requirement: Requirement) -> None:
    """Say that drained nodes have no room for it either, and suggest how to make some."""
    from d0ctl.show.why import more_space  # late: most nodes take packages

    store, package = subject.store, subject.package.id
    drained = [row for row in rows if row.drained and row.state == "up"
               and misfit(requirement, room_of(row)) is None]  # fmt: skip
    lacks = {row.id: lack for row in drained
             if (lack := more_space.disk_lack(store, row, requirement, package))}  # fmt: skip
    full = [row for row in drained if row.id in lacks][:MOST]
    subject.explanation.facts += [f"node `{row.name}` also {lacks[row.id].text}" for row in full]
    missing = {row.id: lacks[row.id].missing for row in full}
    subject.explanation.commands += more_space.commands(store, full, missing, package)


def close_matches(subject: Subject, rows: Sequence[NodeCapacity], requirement: Requirement) -> None:
    """Say which nodes could take it if a single request were dropped, and suggest an edit."""
    explanation = subject.explanation
    usable = [row for row in rows if row.state == "up" and not row.drained]
    for request, without in REQUESTS.items():
        able = [
            row for row in usable if misfit(replace(requirement, **without), room_of(row)) is None
        ]
        if able:
            explanation.facts.append(f"without {request}, {_named_or_counted(able)} could take it")
    from d0ctl.show.why.causes import set_limits  # late: few packages fit no node

    explanation.commands += _with_units(usable, requirement)
    explanation.commands += set_limits.commands(
        subject.store, usable, requirement, subject.package.id
    )
    _suggest_edit(subject, [room_of(row) for row in usable], requirement)


def _suggest_edit(subject: Subject, nodes: Sequence[NodeRoom], requirement: Requirement) -> None:
    """Suggest requests that a node meets, unless such packages are known to take more."""
    explanation, peak = subject.explanation, one_package.peak_use(subject.store, subject.package.id)
    if options := options_for(requirement, nodes, peak):
        is_less = any(option in options for option in AMOUNTS)
        note = "   # if that is enough" if is_less else ""
        explanation.edit = f"d0ctl edit {subject.package.path}{options}{note}"
        explanation.commands.append(explanation.edit)
    elif options := options_for(requirement, nodes):
        took = [f"{size(most)} of {resource}" for option, most, resource in (
            ("--memory", peak.memory, "memory"), ("--disk", peak.disk, "disk"),
        ) if option in options and most]  # fmt: skip
        explanation.facts.append(f"attempts of its stage took up to {listed(took)}")


def _with_units(rows: Sequence[NodeCapacity], requirement: Requirement) -> list[str]:
    """Return how nodes get more memory whose entry lacks its unit."""
    small = [row for row in rows if requirement.memory and row.memory and with_unit(row.memory)]
    return [
        f"d0ctl node set {row.name} memory={with_unit(row.memory or 0)}" for row in small[:MOST]
    ]


def _named_or_counted(rows: Sequence[NodeCapacity]) -> str:
    return named(rows) if len(rows) <= MOST else f"{len(rows)} nodes"


AMOUNTS = ("--cpus", "--memory", "--gpus", "--disk")
"""Options of an edit with which a package that needs what it requested may fail."""

UNKNOWN_USE = PeakUse()

STEP = 1_000_000
"""Suggested sizes are multiples of this many bytes."""


def options_for(
    requirement: Requirement, nodes: Iterable[NodeRoom], peak: PeakUse = UNKNOWN_USE
) -> str | None:
    """Return the fewest options with which one of the nodes can take a package; None if none do.

    If several nodes would do, the request is made to fit the largest. It is not less than the
    peak.
    """
    largest_first = sorted(nodes, key=lambda node: (-node.cpus, -(node.memory or 0)))
    requests = [
        options for node in largest_first if (options := _for_node(requirement, node, peak))
    ]
    return min(requests, key=lambda options: options.count("--"), default=None)


def _for_node(requirement: Requirement, node: NodeRoom, peak: PeakUse) -> str | None:
    options = ""
    if requirement.cpus > node.cpus:
        requirement = replace(requirement, cpus=node.cpus)
        options += f" --cpus {node.cpus}"
    if requirement.memory and node.memory and requirement.memory > node.memory:
        memory = _floor(node.memory)
        if memory < peak.memory:
            return None
        requirement = replace(requirement, memory=memory)
        options += f" --memory {format_size(memory)}"
    if requirement.gpus > node.gpus:
        requirement = replace(requirement, gpus=node.gpus)
        options += f" --gpus {node.gpus}"
    if requirement.space and node.disk and requirement.space > node.disk:
        space = _floor(node.disk if node.disk_free is None else node.disk_free)
        if space < peak.disk:
            return None
        requirement = replace(requirement, space=space)
        options += f" --disk {format_size(space)}"
    if requirement.nodes and node.name not in requirement.nodes:
        requirement = replace(requirement, nodes=())
        options += f" --on {node.name}"
    return options if misfit(requirement, node) is None else None


def _floor(size: int) -> int:
    return max(size // STEP, 1) * STEP
