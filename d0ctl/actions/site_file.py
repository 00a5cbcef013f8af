"""The site file that is applied: where it is, and the nodes that it adds."""

import shlex
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from d0ctl.actions import site_keys
from d0ctl.actions.action import Person
from d0ctl.actions.nodes import _left_files as _left
from d0ctl.config import Home
from d0ctl.errors import NodeUnreachable, NotFound, Refused
from d0ctl.model import Node
from d0ctl.sitefile.nodes import CONTROL
from d0ctl.sitefile.spec import ClusterEntry, Site
from d0ctl.sitefile.writer import plain_text
from d0ctl.store.clusters import only_copies, site_changes
from d0ctl.store.clusters.site_comparison import Difference, left, logins_to_meet, to_meet
from d0ctl.store.connection import Store
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.fitting import Without
from d0ctl.units import listed

if TYPE_CHECKING:
    from d0ctl.actions.meeting import Advice


def path_of(file: Path | None, home: Home) -> Path:
    """Return the site file: by default the one in the home."""
    return home.site_file if file is None else file


def read(file: Path | None, home: Home) -> Site:
    """Read a site file. Raises BadJobFile with every fault, and NotFound if the home has none."""
    from d0ctl.sitefile.reader import read

    path = path_of(file, home)
    if file is None and not path.exists():
        hint = f"d0ctl site show > {shlex.quote(str(path))} writes the current settings"
        if not home.exists():  # then it has none
            hint = "name the file, as in `d0ctl site check FILE`"
        raise NotFound(f"the home has no site file `{path}`", hint=hint)
    return read(path)


def meet(
    store: Store, path: Path, site: Site, differences: Sequence[Difference], person: Person
) -> dict[str, dict[str, Any]]:
    """Return the facts of the new nodes in the file at `path`; reach new login nodes, too.

    Their keys must be trusted, as for `node add`. Raises NodeUnreachable.
    """
    from d0ctl.actions import meeting

    for cluster in logins_to_meet(site, differences):
        if cluster.pilots is not None:
            address = cluster.pilots.address(cluster.name)
            advice = _in_file(path, cluster.name)
            meeting.reach_login(store.home, address, cluster.accept_key, advice, person)
    facts = {}
    for node in to_meet(site, differences):
        try:
            advice = _in_file(path, node.name)
            facts[node.name] = meeting.meet(store, node.address, node.accept_key, advice, person)
            meeting.check_accepted(store.home, node.address, node.accept_key, advice)
        except NodeUnreachable as error:
            changes = f"it would be node `{node.name}`; nothing was changed"
            error.details = (*error.details, changes)
            raise
    return facts


def obstacle(store: Store, site: Site, differences: Sequence[Difference]) -> Refused | None:
    """Return why these changes would be refused; None if they would not."""
    try:
        site_changes.check(store, site, differences)
    except Refused as refused:
        return refused
    return None


def remarks(
    store: Store, site: Site, differences: Sequence[Difference], now: float
) -> Iterator[str]:
    """Say which clusters have no node, which nodes leave files behind, and what known machines
    have of what is set to more.
    """
    yield from without_nodes(registry.nodes(store), site)
    for name, texts in _left_files(store, differences, now):
        yield from (f"node `{name}`: {text}" for text in texts)
    for difference in differences:
        row = registry.find(store, difference.name) if difference.kind == "node" else None
        if row is not None and difference.verb == "change":
            pairs = zip(difference.keys, difference.values, strict=True)
            wanted = {key: (will, plain_text(key, will)) for key, (_, will) in pairs}
            for remark in site_keys.beyond_machine(row, wanted):
                yield f"node `{row.name}`: {remark}"


def unaccepted(home: Home, site: Site, differences: Sequence[Difference]) -> Iterator[str]:
    """Say which new nodes and login nodes have no host key that is accepted, by their records."""
    from d0ctl.nodes.transports.connect import trusted_keys  # late: only new nodes need it

    hosts = [difference for difference in differences if difference.verb == "add"
             or not {"destination", "login"}.isdisjoint(difference.keys)]  # fmt: skip
    new = [(node.address, node.accept_key) for node in to_meet(site, hosts)]
    new += [(entry.pilots.address(entry.name), entry.accept_key)
            for entry in logins_to_meet(site, hosts) if entry.pilots is not None]  # fmt: skip
    names = [f"`{address.name}`" for address, keys in new
             if address.destination and not keys
             and not trusted_keys(address, home.known_hosts)]  # fmt: skip
    if names:
        are = "host key of" if len(names) == 1 else "host keys of"
        yield (f"d0ctl has accepted no {are} {listed(names)}: `site apply` asks for it on a "
               "terminal, and elsewhere it needs `accept-key` in the file")  # fmt: skip


def other_keys(home: Home, site: Site, differences: Sequence[Difference]) -> Iterator[str]:
    """Say which known hosts have an accepted key that is not among those of the file.

    `site apply` leaves these as they are: only a person replaces a key that is accepted.
    """
    from d0ctl.nodes.transports import hostkeys  # late: only for keys in the file
    from d0ctl.nodes.transports.resolve import resolve

    nodes, clusters = to_meet(site, differences), logins_to_meet(site, differences)
    hosts = [("node", node.address, node.accept_key) for node in site.nodes if node not in nodes]
    hosts += [("cluster", entry.pilots.address(entry.name), entry.accept_key)
              for entry in site.clusters if entry.pilots and entry not in clusters]  # fmt: skip
    for kind, address, keys in hosts:
        if not keys or not address.destination:
            continue
        route = resolve(address.destination, address.identity)
        own, *before = (
            [entry.key.fingerprint for entry in hostkeys.entries(home.known_hosts, hop.known_as)
             if not entry.revoked]
            for hop in reversed(route.hops)
        )  # fmt: skip
        if own and set(own).isdisjoint(keys) and not set(keys).issubset(chain(*before)):
            yield (f"{kind} `{address.name}`: its accepted host key is {own[0]}, which is not "
                   "under `accept-key` in the file; `site apply` changes no accepted "
                   "key")  # fmt: skip


def without_nodes(rows: Sequence[Node], site: Site) -> Iterator[str]:
    """Say which clusters of the file would have settings, but no node; `rows` are the nodes now."""
    clusters = {row.name: row.cluster for row in rows}
    stay = {row.name for row in rows if not row.applied}
    for node in site.nodes:
        clusters[node.name] = node.cluster or (node.name if node.destination else CONTROL)
    inhabited = {clusters[name] for name in (*stay, *(node.name for node in site.nodes))}
    for entry in site.clusters:
        name = entry.name
        if entry.pilots is not None or entry == ClusterEntry(name):
            continue
        of_node = registry.LOCAL if name == CONTROL else name
        if name in inhabited or (name == CONTROL and of_node not in clusters):
            continue  # d0ctl adds that node at the first use
        advice = f"write `cluster: {name}` at its nodes"
        if of_node in clusters:
            advice = f"node `{of_node}` is in cluster `{clusters[of_node]}`"
        yield f"no node is in cluster `{name}`, so its settings have no effect: {advice}"


def _left_files(
    store: Store, differences: Sequence[Difference], now: float
) -> Iterator[tuple[str, list[str]]]:
    """Return what becomes of the files of nodes that leave their caches, by node in this order."""
    removed = [difference.name for difference in differences
               if difference.kind == "node" and difference.verb == "remove"]  # fmt: skip
    earlier: list[str] = []
    for name in left(differences):
        lost = only_copies.of_node(store, registry.named(store, name), earlier)
        stranded = 0
        if lost and name in removed:
            gone = [other for other in earlier if other in removed]
            stranded = Without(store, name, earlier=gone, now=now).count(lost.by_requirement)
        then = "then " if earlier else ""
        yield name, [f"{then}{_left.described(lost)}", *_left.makers(lost, stranded, "would run"),
                     *_left.retained(lost, can_save=True)]  # fmt: skip
        earlier.append(name)


def _in_file(path: Path, name: str) -> "Advice":
    """Return the advice to write fingerprints into a site file, at a node or cluster."""
    apply = shlex.join(["d0ctl", "site", "apply", str(path)])
    return lambda keys: f"write `accept-key: [{', '.join(keys)}]` under `{name}`, then {apply}"
