"""The task broker: the cluster where the outputs of a task are merged, if its task file names none.

It is chosen by what its cache has of the files to merge, the room in the cache, the state of its
nodes, and what these have to do already.
"""

import json
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from d0ctl.store.connection import Store, as_json
from d0ctl.store.tasks.state import Task


class Destination(Struct, frozen=True):
    """A cluster that could get the merged files; sizes in bytes, None if not limited."""

    id: int
    name: str
    nodes: tuple[str, ...]
    cpus: int
    packages: int
    transfers: int
    free: int | None
    local: int = 0

    @property
    def backlog(self) -> float:
        """How much waits or runs there for each CPU."""
        return (self.packages + self.transfers) / max(1, self.cpus)

    def has_room(self, needed: int) -> bool:
        """Whether its cache has room for files of so many bytes."""
        return self.free is None or self.free >= needed - self.local


class Choice(Struct, frozen=True):
    """The cluster where files are merged, and the clusters that were not chosen."""

    best: Destination
    needed: int
    """Bytes of the files."""
    others: tuple[Destination, ...]
    """Those that could have got them."""
    unfit: tuple[Destination, ...]
    """Those without room, or without a node that takes packages."""


def choose(
    store: Store, task: Task, contents: Sequence[int], able: Collection[str]
) -> Choice | None:
    """Return the cluster where these files are merged; None if there is no choice.

    Only nodes that are `able` to run the packages count.
    """
    bytes_in = {row["cluster_id"]: int(row["bytes"]) for row in store.rows(
        "bytes_in_clusters", contents=as_json(list(contents)), job=task.job_id)}  # fmt: skip
    destinations = _destinations(store, bytes_in, able)
    if len(destinations) < 2:
        return None
    needed = bytes_in[0]
    fit = [each for each in destinations if each.nodes and each.has_room(needed)]
    if not fit:
        return None
    best = max(fit, key=lambda each: _merit(each, needed))
    others = tuple([each for each in fit if each is not best])
    return Choice(best, needed, others, tuple([each for each in destinations if each not in fit]))


def _destinations(
    store: Store, bytes_in: Mapping[int, int], able: Collection[str]
) -> list[Destination]:
    """Return the clusters, each with its nodes that are able and how much of the files it has."""
    return [
        Destination(row["id"], row["name"],
                    tuple(name for name in json.loads(row["nodes"]) if name in able),
                    row["cpus"], row["packages"], row["transfers"], row["free"],
                    bytes_in.get(row["id"], 0))
        for row in store.rows("destinations")
    ]  # fmt: skip


def busy(store: Store, nodes: Collection[str]) -> list[Destination]:
    """Return the clusters of some nodes that have something to do, the busiest first."""
    found = [
        destination
        for destination in _destinations(store, {}, nodes)
        if destination.nodes and destination.backlog
    ]
    return sorted(found, key=lambda destination: -destination.backlog)


def _merit(destination: Destination, needed: int) -> tuple[float, float, str]:
    """Return what is compared: a tenth of the files weighs as much as a package for each CPU."""
    part = destination.local / needed if needed else 0.0
    return part - min(destination.backlog, 5.0) / 10, float(destination.free or 0), destination.name


def keep(store: Store, task: Task, where: Destination, why: str) -> None:
    """Record where the files of a task are merged, in a transaction; packages that wait for nodes
    of a former choice move.
    """
    nodes = as_json(list(where.nodes))
    store.change("keep_destination", task=task.id, cluster=where.name, nodes=nodes, why=why)
    if task.destination_nodes and task.destination_nodes != nodes:
        store.change("move_destination", stage=task.merge_stage_id, nodes=nodes,
                     previous=task.destination_nodes)  # fmt: skip


def is_gone(store: Store, task: Task) -> bool:
    """Return whether no node takes packages any more where the files of a task are merged."""
    if task.destination is None:
        return False
    merge_nodes: Mapping[str, tuple[str, ...]] = {
        row["name"]: json.loads(row["nodes"]) for row in store.rows("destinations")
    }
    mine = set(json.loads(task.destination_nodes or "[]"))
    return not mine & set(merge_nodes.get(task.destination, ()))
