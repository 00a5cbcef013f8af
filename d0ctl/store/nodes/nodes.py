"""Nodes: how they are reached, what they say of themselves, and who holds their leases."""

import json
import math
import os
import time
from collections.abc import Mapping
from typing import Any

from d0ctl.errors import NotFound, Refused
from d0ctl.model import Address
from d0ctl.store.connection import Row, Store
from d0ctl.store.files.copies import remake
from d0ctl.store.lifecycle import keep_action
from d0ctl.store.nodes.holder import holder, is_dead
from d0ctl_wrapper.relay.facts import machine_id

LEASE = "daemon"
"""The lease of the daemon that `status` and `stop` mean."""

LOCAL = "localhost"
"""The node of kind `local` that is there from the start."""

CLOCK_TOLERANCE_S = 5.0
"""A node's clock that differs by no more than this is taken for right."""


def add_localhost(store: Store) -> None:
    """Make the node of this machine, in the cluster of the control host."""
    with store.writing():
        if not store.row("node_by_name", name=LOCAL):
            store.value(
                "add_node",
                name=LOCAL,
                cluster=1,
                kind="local",
                destination="",
                identity="",
                directory="",
                python="",
                via="auto",
                cpus=os.cpu_count() or 1,
                cpus_asked=None,
            )


def add(store: Store, address: Address, *, cpus: int | None, cluster: str | None = None) -> int:
    """A node by its address; of its own cluster when none is named. Raises Refused if it exists."""
    with store.writing():
        return make(store, address, cpus=cpus, cluster=cluster)


def make(store: Store, address: Address, *, cpus: int | None, cluster: str | None) -> int:
    """As `add`, within the transaction of the caller."""
    if store.row("node_by_name", name=address.name):
        raise Refused(
            f"there is a node `{address.name}` already",
            hint=f"d0ctl node remove {address.name}",
        )
    if address.kind == "local" and cluster is None:
        cluster_id = 1
    else:
        cluster_id = int(store.value("add_cluster", name=cluster or address.name))
    return int(
        store.value(
            "add_node",
            name=address.name,
            cluster=cluster_id,
            kind=address.kind,
            destination=address.destination,
            identity=address.identity,
            directory=address.directory,
            python=address.python,
            via=address.via,
            cpus=cpus or 1,
            cpus_asked=cpus,
        )
    )


def check_machine(
    store: Store, name: str, *, is_local: bool, facts: Mapping[str, Any], allow: str
) -> None:
    """Raise Refused if another node is this node's machine: its slots would count twice.

    `allow` is what a person does to have it all the same.
    """
    machine = machine_id() if is_local else facts.get("machine_id")
    for row in store.rows("machines"):
        if row["name"] != name and _is_same(row, machine, is_local=is_local):
            raise Refused(f"`{name}` is the same machine as node `{row['name']}`, so it would be"
                          " used twice", hint=allow)  # fmt: skip


def seconds(store: Store) -> set[str]:
    """The nodes whose machine is also that of an older node."""
    found, before = set(), list[Row]()
    for row in store.rows("machines"):
        is_local = row["kind"] == "local"
        machine = machine_id() if is_local else row["machine"]
        if any(_is_same(one, machine, is_local=is_local) for one in before):
            found.add(row["name"])
        before.append(row)
    return found


def _is_same(row: Row, machine: str | None, *, is_local: bool) -> bool:
    if row["kind"] == "local":
        return is_local or bool(machine and machine == machine_id())
    return bool(machine and row["machine"] == machine)


def remove(store: Store, name: str, *, now: float) -> None:
    """Forget a node; what only it had is lost, and remade if it is needed.

    Raises Refused while packages are launched on it.
    """
    with store.writing():
        forget(store, name, now=now)


def check_unused(store: Store, row: Row) -> None:
    """Raise Refused for a node with launched packages."""
    if busy := store.value("node_in_use", node=row["id"]):
        raise Refused(f"node `{row['name']}` has {busy} launched packages",
                      hint=f"d0ctl node drain {row['name']}")  # fmt: skip


def forget(store: Store, name: str, *, now: float) -> None:
    """As `remove`, within the transaction of the caller."""
    row = named(store, name)
    check_unused(store, row)
    store.change("unassign_node", node=row["id"], now=now, note=f"node {name} was removed")
    _forget_copies(store, row, now)
    give_up(store, name)
    store.change("remove_node", node=row["id"])
    store.change("remove_unused_cluster", cluster=row["cluster_id"])


def give_up(store: Store, name: str) -> None:
    """Let packages whose outputs are on a node run elsewhere, from the beginning."""
    store.change("stay_nowhere", node=name)


def drain(store: Store, name: str, *, actor: str, note: str | None) -> int:
    """Let a node take nothing new, until a person says otherwise; how many packages are still
    there. Raises NotFound.
    """
    with store.writing():
        row = named(store, name)
        store.change("drain_node", node=row["id"], note=note, now=time.time())
        store.change("forget_bad_node", node=row["id"])
        _keep_deed(store, "node drain", name, actor, note)
        return int(store.value("node_in_use", node=row["id"]))


def resume(store: Store, name: str, *, actor: str, note: str | None) -> None:
    """Let a drained node take packages again. Raises NotFound, or Refused if it is not drained."""
    with store.writing():
        row = named(store, name)
        check_drained(row)
        take_back(store, row["id"], name, actor=actor, note=note, now=time.time())


def check_drained(row: Row) -> None:
    """Raise Refused for a node that is not drained."""
    if not row["drained"]:
        raise Refused(f"node `{row['name']}` is not drained, so it can't be resumed",
                      hint=f"d0ctl why {row['name']}")  # fmt: skip


def take_back(
    store: Store, node: int, name: str, *, actor: str, note: str | None, now: float
) -> None:
    """Let a drained node take packages again, and count anew how it does; in a transaction."""
    store.change("resume_node", node=node)
    store.change("forget_bad_node", node=node)
    store.change("forget_conduct_of_node", node=node)
    store.change("forget_job_conduct_of_node", node=node)
    keep_action(store, verb="node resume", target=name, actor=actor, note=note, packages=0, now=now)


def burner(store: Store, node: int) -> Row | None:
    """Why d0ctl itself has drained a node, and when it is tried again; None when it has not."""
    return store.row("bad_node", node=node)


def _keep_deed(store: Store, verb: str, name: str, actor: str, note: str | None) -> None:
    keep_action(store, verb=verb, target=name, actor=actor, note=note, packages=0, now=time.time())


def named(store: Store, name: str) -> Row:
    """The node of that name. Raises NotFound."""
    row = store.row("node_by_name", name=name)
    if row is None:
        raise NotFound(f"there is no node `{name}`", hint="d0ctl node list")
    return row


def address_of(row: Row) -> Address:
    """How the node of this row is reached."""
    return Address(
        name=row["name"],
        kind=row["kind"],
        destination=row["destination"],
        identity=row["identity"],
        directory=row["directory"],
        python=row["python"],
        via=row["via"],
    )


def heard(store: Store, node: int, load: float | None, *, at: float) -> None:
    """A node that is up has said something; its load is None where it did not say that."""
    store.change("node_heard", node=node, load=_number(load), heard=at)


def _number(value: object) -> float | None:
    is_number = isinstance(value, int | float) and math.isfinite(value)
    return float(value) if is_number else None  # type: ignore[arg-type]


def up(store: Store, node: int, facts: dict[str, Any], *, now: float) -> str | None:
    """A node answers and tells what it is; a sentence when it is another machine than before."""
    row = store.row("node_by_id", node=node)
    if row is None:
        return "it was removed"
    if is_other_machine(row, facts):
        return (
            f"`{row['destination']}` is another machine than before: several share the name, "
            f"or it was set up anew (d0ctl node accept-key {row['name']} --reinstalled)"
        )
    store.change(
        "node_up",
        node=node,
        now=now,
        facts=json.dumps(facts),
        load=_number(facts.get("load")),
        machine=facts.get("machine_id"),
        boot=facts.get("boot_id"),
        base=facts.get("base"),
        clock=_ahead(facts, now),
        cpus=facts.get("cpus") or 1,
        platform=f"{facts.get('system')}-{facts.get('machine')}".lower(),
        memory=facts.get("memory"),
    )
    return None


def note_free_disk(store: Store, node: int, free: int) -> None:
    """Keep how many bytes of a node's disk are free."""
    store.change("note_free_disk", node=node, free=free)


def is_other_machine(row: Row, facts: dict[str, Any]) -> bool:
    """True when a node says another machine-id than the recorded one."""
    machine = facts.get("machine_id")
    return bool(row["machine"] and machine and row["machine"] != machine)


def trust(
    store: Store, name: str, *, reinstalled: bool, actor: str, note: str | None, now: float
) -> None:
    """Record that a person trusts the node's new host key.

    A `reinstalled` node may be another machine: the copies that only it had are lost, and remade
    if they are needed.
    """
    with store.writing():
        if reinstalled:
            row = named(store, name)
            store.change("forget_machine", node=row["id"])
            _forget_copies(store, row, now)
        keep_action(store, verb="node accept-key", target=name, actor=actor, note=note,
                    packages=0, now=now)  # fmt: skip


def _forget_copies(store: Store, row: Row, now: float) -> None:
    """Count the copies that only this node could give as lost."""
    store.change("clear_lost")
    store.change("forget_node_copies", cluster=row["cluster_id"], node=row["id"])
    store.change("forget_node_transfers", cluster=row["cluster_id"], node=row["id"])
    remake(store, now=now)


def _ahead(facts: dict[str, Any], now: float) -> float:
    """How many seconds a node's clock is ahead of ours, beyond what the way may take."""
    ahead = float(facts.get("time") or now) - now
    return ahead if abs(ahead) > CLOCK_TOLERANCE_S else 0.0


def forget_untried(store: Store, *, now: float) -> None:
    """down -> unknown for the nodes that no living process tries to reach."""
    rows = [row for row in store.rows("nodes") if row["state"] == "down"]
    untried = [row["id"] for row in rows if not living_holder(store, f"node {row['id']}")]
    if untried:
        with store.writing():
            for node in untried:
                store.change("node_untried", node=node, now=now)


def down(store: Store, node: int, trouble: str, *, now: float) -> None:
    """A node does not answer: what is planned for it goes elsewhere, what runs is unreachable.

    What was to be killed there counts as ended; the node is told so when it returns.
    """
    store.change("node_down", node=node, trouble=trouble, now=now)
    store.change("end_killing", node=node, now=now)
    store.change("cancel_killing", node=node, now=now)
    store.change("unassign_node", node=node, now=now, note=trouble)
    store.change("lose_contact", node=node, now=now, note=trouble)


def take_lease(store: Store, name: str, *, now: float) -> bool:
    """Take a lease that is free, ours, or whose holder is dead."""
    mine = holder()
    former = store.value("lease_holder", name=name)
    if former not in (None, mine) and not is_dead(former):
        return False
    taken = store.value("take_lease", name=name, holder=mine, former=former or mine, now=now)
    return bool(taken == mine)


def give_lease(store: Store, name: str) -> None:
    """Give a lease back, if it is ours."""
    store.change("give_lease", name=name, holder=holder())


def living_holder(store: Store, name: str) -> str | None:
    """The holder of a lease, if it lives."""
    found = store.value("lease_holder", name=name)
    return None if found is None or is_dead(found) else str(found)
