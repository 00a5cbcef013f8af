"""Changes of the site: a site file is applied, and verbs keep what they change."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from d0ctl.errors import Refused
from d0ctl.model import Address, Node
from d0ctl.sitefile.spec import ClusterEntry, NodeEntry, Site, SoftwareEntry
from d0ctl.store.clusters import capacity, direct_nodes
from d0ctl.store.clusters.site_comparison import (
    Difference,
    compare,
    current,
    is_new,
    left,
    software_name,
)
from d0ctl.store.connection import Row, Store, as_json
from d0ctl.store.lifecycle import keep_action
from d0ctl.store.nodes import contact, registry
from d0ctl.store.nodes.draining import bad_node
from d0ctl.store.nodes.holder import any_driver
from d0ctl.units import count, listed

LOST_KEY = "the key that signed its messages is lost"
"""Why attempts end that can't report any more."""

Facts = Mapping[str, dict[str, Any]]
"""The facts of new nodes, by their names."""


def apply(store: Store, site: Site, facts: Facts, *, actor: str, note: str | None, now: float,
          source: str) -> list[Difference]:  # fmt: skip
    """Make the site equal to the file, in one transaction; return the changes.

    Raises Refused as `check` does.
    """
    with store.writing():
        changes = compare(store, site)
        check(store, site, changes)
        _clusters(store, site, changes, now)
        resumed = _nodes(store, site, changes, facts, now)
        capacity.count(store)
        _catalogue(store, site, changes)
        for change in changes:
            if change.kind == "setting" and change.verb == "remove":
                store.change("remove_setting", name=change.name)
        for name, value in site.settings.items():
            keep_setting(store, name, value)
        store.forget()
        for (verb, keys), names in _node_actions(changes, resumed).items():
            by = " ".join(filter(None, (", ".join(keys), f"by site apply {source}")))
            keep_action(store, verb=verb, target=" ".join(names), actor=actor,
                        note="; ".join(filter(None, (note, by))), packages=0, now=now)  # fmt: skip
        keep_action(store, verb="site apply", target=source, actor=actor, note=note,
                    packages=0, now=now)  # fmt: skip
    return changes


def _node_actions(
    changes: Collection[Difference], resumed: list[str]
) -> dict[tuple[str, tuple[str, ...]], list[str]]:
    """Return actions on nodes, by verb and the keys that change, each with its nodes."""
    verbs = {"remove": "node remove", "add": "node add", "change": "node set"}
    actions: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for verb, name in verbs.items():
        for change in changes:
            if (change.kind, change.verb) == ("node", verb):
                keys = change.keys if verb == "change" else ()
                actions.setdefault((name, keys), []).append(change.name)
    return actions | ({("node resume", ()): resumed} if resumed else {})


def last_file(store: Store) -> str | None:
    """Return the path of the site file that was applied last; None if none was.

    That of a home which was moved since is where the home is now. Before paths were made absolute,
    a path was recorded as it was typed.
    """
    path: str | None = store.value("last_site_file")
    here = store.home.site_file
    if path is None or not (Path(path).name == here.name and here.exists()):
        return path
    was_home = not Path(path).exists() or Path(path).with_name(store.home.database.name).exists()
    return str(here) if was_home else path


def last_apply(store: Store) -> float | None:
    """Return when a site file was applied last; None if none was."""
    at: float | None = store.value("last_site_apply")
    return at


def check(store: Store, site: Site, changes: Collection[Difference]) -> None:
    """Raise Refused if a node with launched packages would go, or a batch system with pilots."""
    _check_pilots(store, site)
    direct = {
        entry.name
        for entry in site.clusters
        if entry.pilots is not None and entry.pilots.mode == "direct"
    }
    gone = left(changes)
    nodes = registry.nodes(store)
    leaving = [row for row in nodes if row.name in gone]
    leaving += [row for row in nodes if row.job == "direct" and row.cluster not in direct]
    try:
        registry.check_unused(store, *dict.fromkeys(leaving))
    except Refused as refused:
        removed = {change.name for change in changes
                   if (change.kind, change.verb) == ("node", "remove")}  # fmt: skip
        named = [f"`{row.name}`" for row in leaving if row.name in removed]
        them = "it" if len(named) == 1 else "them"
        why = f"the file does not have {listed(named)}, so it would remove {them}"
        refused.details = (*refused.details, why) if named else refused.details
        raise


def _clusters(store: Store, site: Site, changes: Collection[Difference], now: float) -> None:
    gone = [
        change.name for change in changes if change.kind == "cluster" and change.verb == "remove"
    ]
    for entry in (*site.clusters, *(ClusterEntry(name) for name in gone)):
        keep_cluster(store, entry, applied=entry.name not in gone)
        direct_nodes.keep_node(store, entry, now=now)
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
    """Raise Refused if a batch system with pilots would go: nothing else would end them."""
    kinds = {entry.name: entry.pilots.kind for entry in site.clusters if entry.pilots is not None}
    for row in store.rows("pilots_of_systems"):
        if kinds.get(row["name"]) != row["kind"]:
            raise Refused(
                f"cluster `{row['name']}` has {count(row['pilots'], 'pilot')}",
                hint="apply it with `max-running: 0` and `idle: 0s` first, until they have ended",
            )


def _nodes(
    store: Store, site: Site, changes: Collection[Difference], facts: Facts, now: float
) -> list[str]:
    """Remove, add and change the nodes; return those that were drained and are so no more."""
    changed = {change.name: change for change in changes if change.kind == "node"}
    previous = {row.name: row for row in registry.nodes(store)}
    drained = {
        row.name: row
        for row in previous.values()
        if row.drained and row.doubted is None and bad_node(store, row.id) is None
    }
    for name in left(changes):
        registry.forget(store, name, now=now)
    for entry in site.nodes:
        if entry.name in changed and is_new(changed[entry.name]):
            make_node(store, entry, facts[entry.name], now)
            _keep_speed(store, entry.name, previous.get(entry.name), facts[entry.name])
            _keep_drain(store, entry.name, drained.get(entry.name))
        keep_node(store, entry, applied=True)
    return [row.name for row in registry.nodes(store)
            if not row.drained and row.name in previous and previous[row.name].drained]  # fmt: skip


def _keep_speed(store: Store, name: str, before: Node | None, facts: Mapping[str, Any]) -> None:
    """Let a node that was added again keep its benchmark, if it is the same machine."""
    if before is None or before.speed_measured is None:
        return
    if before.machine is not None and before.machine == facts.get("machine_id"):
        node = registry.named(store, name)
        store.change("keep_speed", node=node.id, speed=before.speed_measured, now=before.measured)


def _keep_drain(store: Store, name: str, before: Node | None) -> None:
    """Let a node that was added again stay drained, if a person had drained it."""
    if before is not None and before.drained_at is not None:
        node = registry.named(store, name).id
        store.change("drain_node", node=node, note=before.drain_note, now=before.drained_at)


def make_node(store: Store, entry: NodeEntry, facts: dict[str, Any], now: float) -> None:
    """Record the facts of a node; the daemon or `run` connects to it next."""
    address: Address = entry.address
    if not entry.same_machine:
        registry.check_machine(
            store, entry.name, is_local=address.kind == "local", facts=facts,
            allow=f"if that is intended, give `{entry.name}` the key `same-machine: yes`",
        )  # fmt: skip
    node = registry.add(store, address, cpus=None, cluster=entry.cluster)
    if why := contact.up(store, node, facts, now=now):
        raise Refused(why)
    store.change("node_unknown", node=node, now=now)


def keep_node(store: Store, entry: NodeEntry, *, applied: bool) -> None:
    """Record the settings of an existing node."""
    store.change(
        "keep_node", node=registry.named(store, entry.name).id, identity=entry.identity,
        python=entry.python, via=entry.via, cpus=entry.cpus, speed=entry.speed,
        memory=entry.memory, gpus=entry.gpus, services=json.dumps(entry.services),
        platform=entry.platform, applied=int(applied),
    )  # fmt: skip


def _catalogue(store: Store, site: Site, changes: Collection[Difference]) -> None:
    gone = {
        change.name for change in changes if change.kind == "software" and change.verb == "remove"
    }
    for entry in current(store).software:
        if software_name(entry) in gone:
            remove_software(store, entry)
    for entry in site.software:
        keep_software(store, entry, applied=True)


def keep_software(store: Store, entry: SoftwareEntry, *, applied: bool) -> None:
    """Record an entry of the catalogue, in place of a previous one."""
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
    """Return the last attempt, and the first of those that have not ended, with their number."""
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


def replace_lost_key(store: Store, *, actor: str, note: str | None, now: float) -> int:
    """Make a new key in place of a lost one; return how many attempts are ended as lost.

    Their packages start again, and their nodes end them at the next contact. Raises Refused while
    a process is in contact with the nodes.
    """
    from d0ctl import site_key
    from d0ctl.store.attempts import messages
    from d0ctl.store.attempts.launching import launches

    with store.writing():
        if any_driver(store):
            raise Refused("a process drives packages by this database", hint="d0ctl daemon stop")
        number = 0
        for node in store.rows("nodes"):
            signed = [row["attempt_id"] for row in launches.live(store, node["id"])]
            number += len(signed)
            messages.fail(store, node["id"], signed, reason="lost", message=LOST_KEY, now=now)
        site_key.renew(store.home, last=signed_attempts(store)["last"] or 0)
        keep_action(store, verb="site rotate-key", target=store.home.key.name, actor=actor,
                    note=note, packages=number, now=now)  # fmt: skip
    return number
