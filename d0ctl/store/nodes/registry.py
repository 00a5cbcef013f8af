"""The nodes of this site: how they are reached, added and removed."""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from d0ctl.errors import NotFound, Refused
from d0ctl.model import Address, Node, NodeCapacity, Processors
from d0ctl.policy.remarks import NodeMoved, NodeRemoved, noted
from d0ctl.schedule.resources import is_nearly_full
from d0ctl.store.connection import Row, Store
from d0ctl.store.files import copies
from d0ctl.store.nodes.holder import is_dead, marked
from d0ctl.store.rows import make, make_all
from d0ctl.units import count
from d0ctl_wrapper.host.machine import machine_id

CONTROL = 1
"""The cluster of this machine."""

LOCAL = "localhost"
"""The node of kind `local` that exists from the start."""


def is_untouched(store: Store) -> bool:
    """Return whether the database is new: no node, no job, no action of a person."""
    return bool(store.value("untouched"))


def add_localhost(store: Store) -> None:
    """Make the node of this machine, in the cluster of the control host."""
    with store.writing():
        if not find(store, LOCAL):
            store.value(
                "add_node", **asdict(Address(LOCAL, "local")), cluster=CONTROL,
                cpus=os.cpu_count() or 1, cpus_asked=None, gpus=None,
            )  # fmt: skip


def nodes(store: Store) -> list[Node]:
    """Return all nodes, with how many packages are assigned and launched on each."""
    return marked(store, make_all(Node, store.rows("nodes")))


def to_order(store: Store) -> set[int]:
    """Return the nodes with attempts or files that wait for an order other than a launch."""
    return {row[0] for row in store.rows("nodes_to_order")}


def capacities(store: Store) -> list[NodeCapacity]:
    """Return the capacity of each node, and how much is in use."""
    return marked(store, make_all(NodeCapacity, store.rows("node_rooms")))


def disk_of(store: Store, node: int) -> int | None:
    """Return the size of a node's disk, None if it is unknown."""
    size: int | None = store.value("node_disk", node=node)
    return size


def below_reserve(store: Store) -> dict[int, int]:
    """Return the nodes that take no packages because of their disks, and the bytes to be freed."""
    return {row["id"]: row["bytes"] for row in store.rows("nodes_below_reserve")}


class DiskSpace(Struct, frozen=True):
    """How many bytes of a disk are free; `reserve` if it should be more: its node takes nothing."""

    free: int
    total: int
    reserve: int | None = None


def full_disk(row: Node) -> DiskSpace | None:
    """Return the space on the disk of a node that is up and nearly full; None for all others."""
    facts = json.loads(row.facts or "{}")
    return _scarce(row.state, facts.get("disk_free"), facts.get("disk_total"))


def scarce(row: Row) -> DiskSpace | None:
    """Return the same by a row of `standing_nodes`, or if the disk has less than its reserve."""
    return _scarce(row["state"], row["on_disk"], row["disk_total"], row["reserve"])


def _scarce(
    state: str, free: int | None, total: int | None, reserve: int | None = None
) -> DiskSpace | None:
    if state != "up" or free is None or not total:
        return None
    is_scarce = is_nearly_full(free, total) or reserve is not None
    return DiskSpace(free, total, reserve) if is_scarce else None


def find(store: Store, name: str) -> Node | None:
    """Return the node of that name, if there is one."""
    row = store.row("node_by_name", name=name)
    return None if row is None else marked(store, [make(Node, row)])[0]


def by_id(store: Store, node: int) -> Node | None:
    """Return the node of that id, if there is one."""
    row = store.row("node_by_id", node=node)
    return None if row is None else marked(store, [make(Node, row)])[0]


def named(store: Store, name: str) -> Node:
    """Return the node of that name. Raises NotFound."""
    row = find(store, name)
    if row is None:
        raise no_such_node(store, name)
    return row


def no_such_node(store: Store, name: str) -> NotFound:
    """Return the error for a node that does not exist."""
    from d0ctl.jobfile.yaml.faults import near  # only for the error

    meant = near(name, [row.name for row in nodes(store)])
    hint = f"did you mean `{meant}`?" if meant else "d0ctl node list"
    return NotFound(f"there is no node `{name}`", hint=hint)


def in_cluster(store: Store, cluster: int) -> list[Row]:
    """Return the nodes of a cluster that answer: they write into its cache."""
    return store.rows("nodes_of_cluster", cluster=cluster)


def jobs_on(store: Store, node: int, limit: int) -> list[Row]:
    """Return the jobs whose packages use the CPUs of a node, the largest first."""
    return store.rows("node_jobs", node=node, limit=limit)


def down_with_packages(store: Store) -> list[str]:
    """Return the names of the nodes that do not answer and have launched packages."""
    return [
        row["name"] for row in store.rows("nodes") if row["state"] == "down" and row["launched"]
    ]


def launched_on(store: Store, node: int, *, results: bool = True) -> int:
    """Return how many packages are launched on a node, and whose `results` are only there."""
    return int(store.value("node_in_use", node=node, results=results))


def add(
    store: Store,
    address: Address,
    *,
    cpus: int | None,
    gpus: int | None = None,
    cluster: str | None = None,
) -> int:
    """Add a node, by default in a cluster of its own. Raises Refused if its name is taken."""
    check_new(store, address.name)
    if address.kind == "local" and cluster is None:
        cluster_id = CONTROL
    else:
        cluster_id = int(store.value("add_cluster", name=cluster or address.name))
    made: int = store.value(
        "add_node", **asdict(address), cluster=cluster_id, cpus=cpus or 1, cpus_asked=cpus,
        gpus=gpus,
    )  # fmt: skip
    return made


def check_new(store: Store, name: str) -> None:
    """Raise Refused if a node of that name exists."""
    if find(store, name):
        hint = f"d0ctl node set {name} KEY=VALUE   # or remove it first"
        raise Refused(f"node `{name}` already exists", hint=hint)


def check_machine(
    store: Store, name: str, *, is_local: bool, facts: Mapping[str, Any], allow: str
) -> None:
    """Raise Refused if another node is this node's machine: its slots would count twice.

    `allow` is the command that allows it nevertheless.
    """
    machine = machine_id() if is_local else facts.get("machine_id")
    for row in store.rows("machines"):
        if row["name"] != name and _is_same(row, machine, is_local=is_local):
            raise Refused(f"`{name}` is the same machine as node `{row['name']}`, so it would be"
                          " used twice", hint=allow)  # fmt: skip


def duplicates(store: Store) -> set[str]:
    """Return the names of nodes whose machine is also that of an older node."""
    found, before = set(), list[Row]()
    for row in store.rows("machines"):
        is_local = row["kind"] == "local"
        machine = machine_id() if is_local else row["machine"]
        if any(_is_same(older, machine, is_local=is_local) for older in before):
            found.add(row["name"])
        before.append(row)
    return found


def _is_same(row: Row, machine: str | None, *, is_local: bool) -> bool:
    if row["kind"] == "local":
        return is_local or bool(machine and machine == machine_id())
    return bool(machine and row["machine"] == machine)


def check_unused(store: Store, *rows: Node, results: bool = True) -> None:
    """Raise Refused for nodes with launched packages, or with `results` that deliver results."""
    busy = [(row, found) for row in rows if (found := launched_on(store, row.id, results=results))]
    if busy:
        has = f"node `{busy[0][0].name}` has" if len(busy) == 1 else f"{len(busy)} nodes have"
        packages = count(sum(found for _, found in busy), "launched package")
        raise Refused(f"{has} {packages}", hint=way_to_empty([row for row, _ in busy]))


def way_to_empty(rows: Sequence[Node]) -> str:
    """Return what to type until no package is launched on nodes."""
    if taking := [row.name for row in rows if row.state != "down" and not row.drained]:
        return f"d0ctl node drain {' '.join(taking)} --wait   # and then the same again"
    if rows[0].state == "down":
        return f"d0ctl node remove {rows[0].name} --lost   # if it is gone for good"
    return f"d0ctl status '*' --node {rows[0].name}   # it is drained: they continue to their end"


def forget(store: Store, name: str, *, now: float, is_lost: bool = False) -> None:
    """Forget a node; files that only it had are lost, and remade if they are needed.

    A cluster with settings stays. Raises Refused while packages or, unless lost, results need it.
    """
    row = named(store, name)
    check_unused(store, row, results=not is_lost)
    store.change("unassign_node", node=row.id, now=now, note=noted(NodeRemoved(name)))
    copies.lose_all_of_node(store, cluster=row.cluster_id, node=row.id, now=now)
    give_up(store, name)
    if (lease := store.value("lease_holder", name=f"node {row.id}")) and is_dead(lease):
        store.change("drop_lease", name=f"node {row.id}")
    store.change("remove_node", node=row.id)
    store.change("remove_bare_cluster", cluster=row.cluster_id)


def move(store: Store, row: Node, cluster: str | None, *, now: float) -> None:
    """Let a node share the cache of another cluster, None for its own; its copies are lost.

    Raises Refused while packages are launched on it.
    """
    check_unused(store, row)
    name, node, old = row.name, row.id, row.cluster_id
    store.change("unassign_node", node=node, now=now, note=noted(NodeMoved(name)))
    copies.lose_all_of_node(store, cluster=old, node=node, now=now)
    give_up(store, name)
    own = CONTROL if row.kind == "local" else store.value("add_cluster", name=name)
    new = own if cluster is None else store.value("add_cluster", name=cluster)
    store.change("move_node", node=node, cluster=new)
    store.change("remove_bare_cluster", cluster=old)


def keep_speed(store: Store, name: str, speed: float, *, now: float) -> None:
    """Record the result of the benchmark of a node."""
    store.change("keep_speed", node=named(store, name).id, speed=speed, now=now)


def give_up(store: Store, name: str) -> None:
    """Let packages whose outputs are on a node run elsewhere, from the beginning."""
    store.change("stay_nowhere", node=name)


def address_of(row: Node) -> Address:
    """Return how the node of this row is reached."""
    return Address(**{name: getattr(row, name) for name in Address.__struct_fields__})


def is_at(address: Address, row: Node) -> bool:
    """Return whether the node of this row is reached so; cheap, as each node is asked often."""
    return all(getattr(address, name) == getattr(row, name) for name in Address.__struct_fields__)


def processors_of(row: Node) -> Processors:
    """Return how many CPUs and GPUs of the node of this row people say that d0ctl may use."""
    return Processors(row.cpus_asked, row.gpus_asked)


class PackageInUse(Struct, frozen=True):
    """A package on a node, and what its wrapper reported last: CPU seconds and memory, and when."""

    path: str
    node: str
    phase: str
    cpus: int
    cpu: float | None
    rss: int | None
    percent: float | None
    seconds: float | None
    """How long it had been running then."""


def packages_in_use(store: Store) -> list[PackageInUse]:
    """Return the packages on nodes, with what they use as far as their wrappers reported it."""
    return [make(PackageInUse, row) for row in store.rows("packages_in_use")]
