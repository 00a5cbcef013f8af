"""The use of nodes and packages over time: samples of their reports, few enough to keep."""

from msgspec import Struct

from d0ctl.store.connection import Store
from d0ctl.store.rows import make
from d0ctl.store.views.shapes.of_package import PackageSample

KEPT_S = 86_400.0
"""How long samples of nodes are kept."""

LEAST_S = 30.0
"""The shortest time between two samples of a package."""


class NodeSample(Struct, frozen=True):
    """The use of a node at a time: its load, the memory of its packages, its disk."""

    at: float
    load: float | None
    rss: int | None
    disk_free: int | None
    disk_in_use: int | None


def take(store: Store, node: int, *, now: float) -> None:
    """Record what a node and its packages use, as they reported it last."""
    store.change("sample_node", node=node, now=now)
    store.change("forget_node_samples", node=node, before=now - KEPT_S)
    store.change("sample_packages", node=node, least=LEAST_S, now=now)


def of_node(store: Store, node: int, *, since: float) -> list[NodeSample]:
    """Return the use of a node since a time, the oldest first."""
    return [make(NodeSample, row) for row in store.rows("node_samples", node=node, since=since)]


def of_nodes(store: Store, *, since: float) -> dict[str, list[NodeSample]]:
    """Return the use of each node since a time, by its name, the oldest first."""
    samples: dict[str, list[NodeSample]] = {}
    for row in store.rows("samples_of_nodes", since=since):
        samples.setdefault(row["name"], []).append(make(NodeSample, row))
    return samples


def of_packages(store: Store, *, since: float) -> dict[str, list[PackageSample]]:
    """Return what packages on nodes have used since a time, by path, the oldest first."""
    samples: dict[str, list[PackageSample]] = {}
    for row in store.rows("samples_of_packages", since=since):
        samples.setdefault(row["path"], []).append(PackageSample(row["at"], row["cpu"], row["rss"]))
    return samples
