"""The site file and the database: the settings in force, the changes by a file, and applying it."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from msgspec import Struct, convert
from msgspec.structs import asdict, replace

from d0ctl.errors import Refused
from d0ctl.model import Address
from d0ctl.sitefile.spec import ClusterEntry, NodeEntry, Pilots, Site, SoftwareEntry
from d0ctl.store.connection import Row, Store, as_json
from d0ctl.store.lifecycle import keep_action
from d0ctl.store.nodes import contact, registry
from d0ctl.store.nodes.registry import CONTROL
from d0ctl.units import count

MOVED = {"destination", "dir", "cluster"}
"""The properties of a node that can't change while it is the same node."""

Facts = Mapping[str, dict[str, Any]]
"""The facts of new nodes, by their names."""


class Difference(Struct, frozen=True):
    """One thing that a site file adds, changes or removes; `keys` are the keys that change, and
    `values` their present and new values.
    """

    verb: str
    kind: str
    name: str
    keys: tuple[str, ...] = ()
    values: tuple[tuple[Any, Any], ...] = ()


def known_clusters(store: Store) -> dict[str, Row]:
    """Return the rows of all clusters by their names."""
    return {row["name"]: row for row in store.rows("clusters")}


def current(store: Store, *, applied: bool = False) -> Site:
    """The site that is in force; with `applied` only the part from a site file."""
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
    found: list[Difference] = []
    for kind in ("cluster", "node", "software", "setting"):
        wanted = _things(site, kind)
        found += _differences(kind, _things(now, kind), _things(before, kind), wanted)
    return found


def _things(site: Site, kind: str) -> dict[str, dict[str, Any]]:
    """The things of a kind, by name, as keys and values that can be compared."""
    if kind == "setting":
        return {name: {"value": value} for name, value in site.settings.items()}
    if kind == "node":
        return {
            one.name: asdict(replace(one, accept_key=(), same_machine=False)) for one in site.nodes
        }
    if kind == "cluster":
        return {
            one.name: {**asdict(replace(one, pilots=None, accept_key=())), **_pilots(one)}
            for one in site.clusters
            if replace(one, accept_key=()) != ClusterEntry(one.name)
        }
    return {software_name(one): json.loads(json.dumps(asdict(one))) for one in site.software}


def _pilots(cluster: ClusterEntry) -> dict[str, Any]:
    """The keys of a cluster that is a batch system."""
    return {} if cluster.pilots is None else asdict(cluster.pilots)


def software_name(entry: SoftwareEntry) -> str:
    """The name of an entry of the catalogue for users."""
    return f"{entry.title} for {entry.platform}" if entry.platform else entry.title


def _differences(
    kind: str,
    now: Mapping[str, dict[str, Any]],
    before: Collection[str],
    wanted: Mapping[str, dict[str, Any]],
) -> list[Difference]:
    found = []
    for name, thing in wanted.items():
        if name not in now:
            found.append(Difference("add", kind, name))
        elif now[name] != thing:
            keys = tuple(k for k in thing if now[name][k] != thing[k])
            values = tuple((now[name][k], thing[k]) for k in keys)
            written = tuple(k.replace("_", "-") for k in keys)
            found.append(Difference("change", kind, name, written, values))
    gone = [name for name in (now if kind == "setting" else before) if name not in wanted]
    return found + [Difference("remove", kind, name) for name in gone]


def to_meet(site: Site, differences: Collection[Difference]) -> list[NodeEntry]:
    """The nodes that must be reached before they can be added, or added again."""
    new = {one.name for one in differences if one.kind == "node" and _is_new(one)}
    return [node for node in site.nodes if node.name in new]


def logins_to_meet(site: Site, differences: Collection[Difference]) -> list[ClusterEntry]:
    """The batch systems whose login node must be reached before they can be added."""
    new = {
        one.name
        for one in differences
        if one.kind == "cluster" and (one.verb == "add" or {"login", "kind"}.intersection(one.keys))
    }
    return [entry for entry in site.clusters if entry.name in new and entry.pilots is not None]


def _is_new(difference: Difference) -> bool:
    return difference.verb == "add" or bool(MOVED.intersection(difference.keys))


def apply(store: Store, site: Site, facts: Facts, *, actor: str, note: str | None, now: float,
          source: str) -> list[Difference]:  # fmt: skip
    """Make the site equal to the file, in one transaction; return the changes.

    Raises Refused if a node with launched packages would be removed.
    """
    with store.writing():
        found = compare(store, site)
        _clusters(store, site, found)
        _nodes(store, site, found, facts, now)
        _catalogue(store, site, found)
        for one in found:
            if one.kind == "setting" and one.verb == "remove":
                store.change("remove_setting", name=one.name)
        for name, value in site.settings.items():
            keep_setting(store, name, value)
        store.forget()
        keep_action(store, verb="site apply", target=source, actor=actor, note=note,
                    packages=0, now=now)  # fmt: skip
    return found


def _clusters(store: Store, site: Site, found: Collection[Difference]) -> None:
    gone = [one.name for one in found if one.kind == "cluster" and one.verb == "remove"]
    _check_pilots(store, site)
    for entry in (*site.clusters, *(ClusterEntry(name) for name in gone)):
        keep_cluster(store, entry, applied=entry.name not in gone)
    for row in store.rows("clusters"):
        if row["name"] in gone:
            store.change("remove_unused_cluster", cluster=row["id"])


def keep_cluster(store: Store, entry: ClusterEntry, *, applied: bool) -> None:
    """Record the settings of a cluster."""
    store.change(
        "keep_cluster", name=entry.name, platform=entry.platform, private=int(entry.private),
        capacity=entry.capacity, software_share=entry.software_share,
        services=json.dumps(entry.services),
        pilots=None if entry.pilots is None else json.dumps(asdict(entry.pilots)),
        applied=int(applied),
    )  # fmt: skip


def keep_setting(store: Store, name: str, value: Any) -> None:
    """Record a section of the site file."""
    store.change("keep_setting", name=name, value=json.dumps(value))


def _check_pilots(store: Store, site: Site) -> None:
    """Raise Refused for the removal of a batch system with pilots: nothing would end them."""
    kept = {entry.name for entry in site.clusters if entry.pilots is not None}
    for row in store.rows("pilots_of_systems"):
        if row["name"] not in kept:
            raise Refused(
                f"cluster `{row['name']}` has {count(row['pilots'], 'pilot')}",
                hint="apply it with `max-running: 0` and `idle: 0s` first, until they have ended",
            )


def _nodes(
    store: Store, site: Site, found: Collection[Difference], facts: Facts, now: float
) -> None:
    changed = {one.name: one for one in found if one.kind == "node"}
    for name, one in changed.items():
        if one.verb == "remove" or (one.verb == "change" and _is_new(one)):
            registry.forget(store, name, now=now)
    for entry in site.nodes:
        if entry.name in changed and _is_new(changed[entry.name]):
            make_node(store, entry, facts[entry.name], now)
        keep_node(store, entry, applied=True)


def make_node(store: Store, entry: NodeEntry, facts: dict[str, Any], now: float) -> None:
    """Record the facts of a node; the daemon or `run` connects to it next."""
    address: Address = entry.address
    if not entry.same_machine:
        registry.check_machine(
            store, entry.name, is_local=address.kind == "local", facts=facts,
            allow=f"if that is intended, give `{entry.name}` the key `same-machine: yes`",
        )  # fmt: skip
    node = registry.add(store, address, cpus=entry.cpus, gpus=entry.gpus,
                        cluster=entry.cluster)  # fmt: skip
    contact.up(store, node, facts, now=now)
    store.change("node_unknown", node=node, now=now)


def keep_node(store: Store, entry: NodeEntry, *, applied: bool) -> None:
    """Record the settings of an existing node."""
    store.change(
        "keep_node", node=registry.named(store, entry.name)["id"], identity=entry.identity,
        python=entry.python, via=entry.via, cpus=entry.cpus, speed=entry.speed,
        memory=entry.memory, gpus=entry.gpus, services=json.dumps(entry.services),
        platform=entry.platform, applied=int(applied),
    )  # fmt: skip


def _catalogue(store: Store, site: Site, found: Collection[Difference]) -> None:
    gone = {one.name for one in found if one.kind == "software" and one.verb == "remove"}
    for entry in current(store).software:
        if software_name(entry) in gone:
            remove_software(store, entry)
    for entry in site.software:
        keep_software(store, entry, applied=True)


def keep_software(store: Store, entry: SoftwareEntry, *, applied: bool) -> None:
    """Record an entry of the catalogue, in place of a former one."""
    store.change(
        "keep_software", name=entry.name, version=entry.version, platform=entry.platform,
        script=entry.script, shell=entry.shell, parameters=as_json(entry.parameters) or "{}",
        archive=entry.archive, checksum=entry.checksum, size=entry.size,
        manifest=entry.manifest, needs=json.dumps(entry.needs), runtime=entry.runtime,
        log_rules=as_json(entry.log_rules) or "[]", hooks=as_json(entry.hooks) or "{}",
        progress=as_json(entry.progress), check=entry.check,
        policy=as_json(entry.policy) or "{}", applied=int(applied),
    )  # fmt: skip


def remove_software(store: Store, entry: SoftwareEntry) -> None:
    """Remove an entry from the catalogue; copies on nodes stay until they are purged."""
    name, version, platform = entry.key
    store.change("remove_software", name=name, version=version, platform=platform)


def signed_attempts(store: Store) -> Row:
    """The last attempt, and the first of those that have not ended, with their number."""
    row = store.row("last_attempt")
    assert row is not None
    return row


def rotate_key(store: Store, *, actor: str, note: str | None, now: float) -> int:
    """Make a new key; return how many attempts that have not ended keep their present one.

    No attempt is launched meanwhile, since launches are written, too.
    """
    from d0ctl import site_key  # imports hashlib, for this verb alone

    with store.writing():
        row = signed_attempts(store)
        site_key.rotate(store.home, last=row["last"] or 0, oldest=row["oldest"])
        keep_action(store, verb="site rotate-key", target=store.home.key.name, actor=actor,
                    note=note, packages=0, now=now)  # fmt: skip
    return int(row["running"])
