"""Contact with nodes: which answer, what they report, and the effects if one does not."""

import json
import math
from collections.abc import Mapping
from typing import Any

from d0ctl.model import Node
from d0ctl.store.connection import Row, Selection, Store
from d0ctl.store.files import copies
from d0ctl.store.nodes.holder import abandoned, dead_holders
from d0ctl.store.nodes.leases import living_holder
from d0ctl.store.nodes.registry import by_id, named, nodes

CLOCK_TOLERANCE_S = 5.0
"""A node's clock that differs by no more than this counts as right."""


def up(store: Store, node: int, facts: Mapping[str, Any], *, now: float,
       heard_at: float | None = None) -> str | None:  # fmt: skip
    """Record that a node answers, and its facts; return why it is refused, if it is.

    `heard_at` is when the facts came, if that is earlier: their clock is compared with it.
    It is refused if it was removed, is another machine than before, or has another folder than
    nodes that are to share its cache.
    """
    row = by_id(store, node)
    if row is None:
        return "it was removed"
    if is_other_machine(row, facts):
        return (
            f"`{row.destination or 'this machine'}` is another machine than before: "
            "several share the name, or it was reinstalled "
            f"(d0ctl node accept-key {row.name} --reinstalled)"
        )
    if why := apart(store, row, facts):
        return f"{why}, or take it out of its cluster (d0ctl node set {row.name} cluster=none)"
    store.change(
        "node_up",
        node=node,
        now=now,
        facts=json.dumps(dict(facts)),
        load=_number(facts.get("load")),
        machine=facts.get("machine_id"),
        boot=facts.get("boot_id"),
        base=facts.get("base"),
        clock=_clock_ahead_s(facts, now if heard_at is None else heard_at),
        cpus=facts.get("cpus") or 1,
        platform=f"{facts.get('system')}-{facts.get('machine')}".lower(),
        memory=facts.get("memory"),
        gpus=facts.get("gpus") or 0,
    )
    _note_full_disk(store, node, now)
    return None


def apart(store: Store, row: Node, facts: Mapping[str, Any]) -> str | None:
    """Return why a node can't share the cache of its cluster, if nodes report two folders."""
    other = store.row("apart_in_cluster", node=row.id, folder=facts.get("folder") or "")
    if other is None:
        return None
    return (
        f"`{row.name}` has no folder in common with `{other['name']}`, as nodes of one cluster "
        "must: give both the same `dir` on a shared disk"
    )


def down(store: Store, node: int, error: str, *, now: float, wait_s: float = 0.0) -> None:
    """Record that a node does not answer, and how long until it is tried again.

    Packages assigned to it are scheduled again, launched ones are unreachable. Packages that were
    being killed there count as ended; the node learns of it when it returns.
    """
    store.change("node_down", node=node, last_error=error, now=now, next_try=now + wait_s)
    store.change("end_killing", node=node, now=now)
    store.change("cancel_killing", node=node, now=now)
    store.change("unassign_node", node=node, now=now, note=error)
    store.change("lose_contact", node=node, now=now, note=error)


def try_now(store: Store, node: int) -> None:
    """Have the process that drives a node try it at once, if it is down: it may answer again."""
    store.change("try_node_now", node=node)


def unknown(store: Store, node: int, *, now: float) -> None:
    """Record that no process drives a node any more, so that its state is unknown."""
    store.change("node_unknown", node=node, now=now)


def forget_untried(store: Store, *, now: float) -> None:
    """down -> unknown for the nodes that no living process tries to reach."""
    down_nodes = [row.id for row in nodes(store) if row.state == "down"]
    untried = [node for node in down_nodes if not living_holder(store, f"node {node}")]
    if untried:
        with store.writing():
            for node in untried:
                store.change("node_untried", node=node, now=now)


def settle_abandoned(store: Store, *, now: float) -> None:
    """up -> unknown for nodes whose driver was killed; leases of such processes are dropped."""
    with store.writing():
        for node in abandoned(store):
            store.change("node_unknown", node=node, now=now)
        for holder in dead_holders(store):
            store.change("drop_leases_of", holder=holder)


def note_contact(store: Store, node: int, load: float | None, *, at: float) -> None:
    """Record a sign of life of a node that is not down, with its load if it reported one."""
    store.change("node_heard", node=node, load=_number(load), last_heard=at)


def note_free_disk(store: Store, node: int, free: int, *, now: float) -> None:
    """Record how many bytes of a node's disk are free."""
    store.change("note_free_disk", node=node, free=free)
    _note_full_disk(store, node, now)


def _note_full_disk(store: Store, node: int, now: float) -> None:
    """Record from when to when a node takes no packages as its disk is full."""
    store.change("begin_full_disk", node=node, now=now)
    store.change("end_full_disk", node=node, now=now)


def is_other_machine(row: Node, facts: Mapping[str, Any]) -> bool:
    """Return whether a node reports another machine id than the recorded one.

    A name may stand for several login nodes of a batch system.
    """
    if row.job:
        return False
    machine = facts.get("machine_id")
    return bool(row.machine and machine and row.machine != machine)


def forget_machine(store: Store, name: str, *, now: float) -> None:
    """Allow a node to be another machine: copies that only it had are lost, or made again."""
    row = named(store, name)
    store.change("forget_machine", node=row.id)
    copies.lose_all_of_node(store, cluster=row.cluster_id, node=row.id, now=now)


def _number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and math.isfinite(value)
    return float(value) if is_number else None  # type: ignore[arg-type]


def _clock_ahead_s(facts: Mapping[str, Any], now: float) -> float:
    ahead = float(facts.get("time") or now) - now
    return ahead if abs(ahead) > CLOCK_TOLERANCE_S else 0.0


def left_behind(selected: Selection) -> Row | None:
    """Return how many of these packages may still run on nodes out of contact, and on which."""
    return selected.row("left_behind")
