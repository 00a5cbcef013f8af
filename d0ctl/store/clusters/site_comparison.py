"""The site that is in force, and what a site file would change in it."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from msgspec import Struct, convert
from msgspec.structs import asdict, replace

from d0ctl.sitefile.spec import ClusterEntry, NodeEntry, Pilots, Site, SoftwareEntry
from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.registry import CONTROL
from d0ctl.store.rows import make

MOVED = {"destination", "dir", "cluster"}
"""The properties of a node that can't change while it is the same node."""


FIRST_USE = {"node": (registry.LOCAL,)}
"""What d0ctl itself adds, by kind."""


class Difference(Struct, frozen=True):
    """One thing that a site file adds, changes or removes; `keys` are the keys that change, and
    `values` their present and new values.
    """

    verb: str
    kind: str
    name: str
    keys: tuple[str, ...] = ()
    values: tuple[tuple[Any, Any], ...] = ()


class KnownCluster(Struct, frozen=True):
    """Whether a cluster is private, and whether it comes from the site file."""

    private: int
    applied: int


def known_clusters(store: Store) -> dict[str, KnownCluster]:
    """Return all clusters by their names."""
    return {row["name"]: make(KnownCluster, row) for row in store.rows("clusters")}


def cluster_named(store: Store, name: str) -> str:
    """Return the name of a cluster: `control` if it is that of a node on this machine there."""
    known = store.rows("clusters")
    own = next(row["name"] for row in known if row["id"] == CONTROL)
    if name in (row["name"] for row in known):
        return name
    node = registry.find(store, name)
    is_own = (
        name == registry.LOCAL if node is None else node.kind == "local" and node.cluster == own
    )
    return own if is_own else name


def current(store: Store, *, applied: bool = False) -> Site:
    """Return the site that is in force; with `applied` only the part from a site file."""
    clusters = store.rows("clusters")
    names = {row["id"]: row["name"] for row in clusters}
    seconds = registry.duplicates(store)
    return Site(
        nodes=tuple(
            replace(_node(row, names), same_machine=row["name"] in seconds)
            for row in store.rows("nodes")
            if not row["job"] and _is(row, applied)
        ),
        clusters=tuple(
            entry
            for row in clusters
            if _is(row, applied) and (entry := _cluster(row)) != ClusterEntry(row["name"])
        ),
        software=tuple(_software(row) for row in store.rows("software") if _is(row, applied)),
        settings={row["name"]: json.loads(row["value"]) for row in store.rows("settings")},
    )


def _is(row: Row, applied: bool) -> bool:
    return bool(row["applied"]) or not applied


def _node(row: Row, clusters: Mapping[int, str]) -> NodeEntry:
    cluster = clusters[row["cluster_id"]]
    own = row["name"] if row["kind"] == "ssh" else clusters[CONTROL]
    return NodeEntry(
        row["name"], row["destination"], row["identity"], row["directory"], row["python"],
        row["via"], None if cluster == own else cluster, row["cpus_asked"], row["platform_asked"],
        row["speed_asked"], row["memory_asked"], tuple(json.loads(row["services"])),
        gpus=row["gpus_asked"],
    )  # fmt: skip


def _cluster(row: Row) -> ClusterEntry:
    services = tuple(json.loads(row["services"]))
    pilots = None if row["pilots"] is None else convert(json.loads(row["pilots"]), Pilots)
    return ClusterEntry(row["name"], row["platform"], services, bool(row["private"]),
                        row["capacity"], row["software_share"], pilots)  # fmt: skip


def _software(row: Row) -> SoftwareEntry:
    progress = row["progress"]
    return SoftwareEntry(
        row["name"], row["version"], row["platform"], row["script"], row["shell"],
        json.loads(row["parameters"]), row["archive"], row["checksum"], row["size"],
        row["manifest"], tuple(json.loads(row["needs"])), row["runtime"],
        tuple(json.loads(row["log_rules"])), json.loads(row["hooks"]),
        None if progress is None else json.loads(progress), row["check"],
        json.loads(row["policy"]),
    )  # fmt: skip


def compare(store: Store, site: Site) -> list[Difference]:
    """Return what would change: the entries of the file, and those of an earlier one that it lacks.

    Settings made by verbs stay as they are until a file names them.
    """
    now, before = current(store), current(store, applied=True)
    differences: list[Difference] = []
    for kind in ("cluster", "node", "software", "setting"):
        wanted = _things(site, kind)
        differences += _differences(kind, _things(now, kind), _things(before, kind), wanted)
    return differences


def _comparable(node: NodeEntry) -> NodeEntry:
    """Return a node without what is not kept; by default it has a cluster with its name, unless it
    is on this machine.
    """
    cluster = None if node.destination and node.cluster == node.name else node.cluster
    return replace(node, accept_key=(), same_machine=False, cluster=cluster)


def _things(site: Site, kind: str) -> dict[str, dict[str, Any]]:
    """Return the things of a kind, by name, as keys and values that can be compared."""
    if kind == "setting":
        return {name: {"value": value} for name, value in site.settings.items()}
    if kind == "node":
        return {node.name: asdict(_comparable(node)) for node in site.nodes}
    if kind == "cluster":
        return {
            cluster.name: {
                **asdict(replace(cluster, pilots=None, accept_key=())),
                **_pilots(cluster),
            }
            for cluster in site.clusters
            if replace(cluster, accept_key=()) != ClusterEntry(cluster.name)
        }
    return {
        software_name(software): json.loads(json.dumps(asdict(software)))
        for software in site.software
    }


def _pilots(cluster: ClusterEntry) -> dict[str, Any]:
    """Return the keys of a cluster that is a batch system."""
    return {} if cluster.pilots is None else asdict(cluster.pilots)


def software_name(entry: SoftwareEntry) -> str:
    """Return the name of an entry of the catalogue for users."""
    return f"{entry.title} for {entry.platform}" if entry.platform else entry.title


def _differences(
    kind: str,
    now: Mapping[str, dict[str, Any]],
    before: Collection[str],
    wanted: Mapping[str, dict[str, Any]],
) -> list[Difference]:
    differences = []
    for name, entry in wanted.items():
        if name not in now and kind == "setting":
            values = tuple((None, value) for value in entry.values())
            differences.append(Difference("add", kind, name, tuple(entry), values))
        elif name not in now:
            differences.append(Difference("add", kind, name))
        elif now[name] != entry:
            keys = tuple(k for k in entry if now[name][k] != entry[k])
            values = tuple((now[name][k], entry[k]) for k in keys)
            written = tuple(k.replace("_", "-") for k in keys)
            differences.append(Difference("change", kind, name, written, values))
    for name in now if kind == "setting" else before:
        if name not in wanted:
            lost = now[name] if kind == "setting" else {}
            values = tuple((value, None) for value in lost.values())
            differences.append(Difference("remove", kind, name, tuple(lost), values))
    return differences


def unnamed(store: Store, site: Site) -> list[str]:
    """Return what commands have made and neither this file nor an earlier one names.

    But not this machine, which d0ctl itself adds at the first use.
    """
    now, before = current(store), current(store, applied=True)
    return [
        f"{kind} `{name}`"
        for kind in ("cluster", "node", "software")
        for name in _things(now, kind)
        if name not in {*_things(before, kind), *_things(site, kind), *FIRST_USE.get(kind, ())}
    ]


def to_meet(site: Site, differences: Collection[Difference]) -> list[NodeEntry]:
    """Return the nodes that must be reached before they can be added, or added again."""
    new = {
        difference.name
        for difference in differences
        if difference.kind == "node" and is_new(difference)
    }
    return [node for node in site.nodes if node.name in new]


def logins_to_meet(site: Site, differences: Collection[Difference]) -> list[ClusterEntry]:
    """Return the batch systems whose login node must be reached before they can be added."""
    new = {
        difference.name
        for difference in differences
        if difference.kind == "cluster"
        and (difference.verb == "add" or {"login", "kind"}.intersection(difference.keys))
    }
    return [entry for entry in site.clusters if entry.name in new and entry.pilots is not None]


def left(differences: Collection[Difference]) -> list[str]:
    """Return the nodes that are removed, or moved to another machine, folder or cache."""
    return [
        difference.name
        for difference in differences
        if difference.kind == "node"
        and (difference.verb == "remove" or (difference.verb == "change" and is_new(difference)))
    ]


def is_new(difference: Difference) -> bool:
    """Return whether it adds a node, or moves one to another machine or folder."""
    return difference.verb == "add" or bool(MOVED.intersection(difference.keys))
