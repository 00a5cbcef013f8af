"""How nodes are asked to push, purge and verify software, and what they answer."""

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from d0ctl.cli import session
from d0ctl.cli.changing import rehearsal
from d0ctl.cli.terminal.output import emit_json, sheet, show
from d0ctl.errors import BadUsage, ExitCode, NotFound, Refused
from d0ctl.model import Node
from d0ctl.show.cards import software as software_page
from d0ctl.store.clusters import capacity, site_comparison
from d0ctl.store.connection import Store
from d0ctl.store.nodes import registry, software
from d0ctl.store.nodes.catalogue import Catalogue, user_on
from d0ctl.store.nodes.software import NodeOrder
from d0ctl.store.views import names as known_names
from d0ctl.store.views.browse import nearest
from d0ctl.units import listed

if TYPE_CHECKING:
    from d0ctl.cli.schemas.software import SoftwareOrder

Entry = Mapping[str, Any]

NO_FILES = {"archive": "-", "checksum": "-", "size": None, "manifest": None}
"""Of an entry for software that is to be purged, and no longer in the catalogue."""


def named(nodes: Sequence[str], clusters: Sequence[str]) -> list[str]:
    """Return nodes by name and those of clusters, each once; none for all nodes.

    Raises NotFound for a cluster without nodes.
    """
    if not clusters:
        return list(nodes)
    chosen_nodes = list(nodes)
    with session.reader() as store:
        rows = registry.nodes(store)
        clusters = [site_comparison.cluster_named(store, name) for name in clusters]
    for cluster in clusters:
        there = [row.name for row in rows if row.cluster == cluster]
        if not there:
            raise NotFound(f"cluster `{cluster}` has no nodes", hint="d0ctl cluster list")
        chosen_nodes += there
    return list(dict.fromkeys(chosen_nodes))


def ask(verb: str, title: str, names: Sequence[str], note: str | None) -> list[int]:
    """Record an order for each node; return their numbers. Raises NotFound and Refused."""
    from d0ctl.store.lifecycle import keep_action

    split(title)
    if not session.has_home():
        raise NotFound(f"there is no software `{title}`", hint="d0ctl software list")
    now = time.time()
    with session.writer() as store, store.writing():
        asked = [
            software.ask(store, verb, node, entry, actor=session.actor(), now=now)
            for node in _nodes(store, names)
            for entry in _entries(store, verb, title, node, is_named=bool(names))
        ]
        if not asked:
            raise Refused(
                f"no node has a platform for software `{title}`", hint="d0ctl software list"
            )
        keep_action(store, verb=f"software {verb}", target=title, actor=session.actor(),
                    note=note, packages=0, now=now)  # fmt: skip
    return asked


def preview(verb: str, title: str, names: Sequence[str]) -> list[str]:
    """Return what nodes would be asked to do. Raises NotFound and Refused as `ask` does."""
    split(title)
    with rehearsal() as store:
        names_shown = [
            node.name
            for node in _nodes(store, names)
            if _entries(store, verb, title, node, is_named=bool(names))
        ]
    if not names_shown:
        raise Refused(f"no node has a platform for software `{title}`", hint="d0ctl software list")
    return [f"would {verb} `{title}` on {listed(f'`{name}`' for name in names_shown)}"]


def _nodes(store: Store, names: Sequence[str]) -> list[Node]:
    if names:
        return [registry.named(store, name) for name in dict.fromkeys(names)]
    return registry.nodes(store)


def _entries(store: Store, verb: str, title: str, node: Node, *, is_named: bool) -> list[Entry]:
    """Return the catalogue's entries for a node. Raises Refused if it `is_named` and has none."""
    catalogue = Catalogue(store)
    if verb == "purge":
        _refuse_use(store, title, node)
    entry = catalogue.entry(title, node.platform)
    if entry is not None and entry["archive"] is not None:
        if verb == "push":
            capacity.check_software(store, node, title, entry["checksum"], entry["size"] or 0)
        return [{key: entry[key] for key in entry.keys()}]  # noqa: SIM118
    if entry is not None:
        raise Refused(f"software `{title}` has no archive, so there is nothing to {verb}",
                      hint="d0ctl software list")  # fmt: skip
    if verb == "purge" and not catalogue.entries(title):
        return _removed_entries(store, title, node)
    if not catalogue.entries(title):
        raise no_such(title, known_names.software(store))
    if is_named:
        platform = node.platform or "unknown: d0ctl node check " + node.name
        raise Refused(f"there is no software `{title}` for the platform of node "
                      f"`{node.name}`, {platform}")  # fmt: skip
    return []


def _removed_entries(store: Store, title: str, node: Node) -> list[Entry]:
    """Return entries of software that is in the catalogue no more: for each platform that it may
    have had, and with each archive on the node that no software has, as it may have been this one.
    """
    name, version = split(title)
    platforms = dict.fromkeys(("", node.platform or ""))
    archives = software.archives_of_none(store, node.id)
    return [
        {"name": name, "version": version, "platform": platform or "", **NO_FILES}
        | ({"archive": "/", "checksum": checksum} if checksum else {})
        for platform, checksum in zip_longest(platforms, archives)
    ]


def _refuse_use(store: Store, title: str, node: Node) -> None:
    path = user_on(store, node.id, title)
    if path:
        raise Refused(f"package `{path}` on node `{node.name}` uses software `{title}`",
                      hint=software_page.after_use(path))  # fmt: skip


def wait(ids: Sequence[int]) -> list[NodeOrder]:
    """Reach the nodes until each has answered or can't carry out its order; return the orders then.

    A check is cancelled if its node does not answer; all else is done when the node is back.
    """
    from d0ctl.daemon.drive import keep_contact

    def is_done(store: Store) -> bool:
        return all(_is_answered(row) for row in software.orders(store, ids))

    try:
        keep_contact(session.home(), is_done, threading.Event())
    finally:
        rows = _leave(ids)
    return rows


def _leave(ids: Sequence[int]) -> list[NodeOrder]:
    """Wait for no answers any more; return the orders. The user gets a report of late ones."""
    from d0ctl.jobfile.reader import current_user

    with session.writer() as store, store.writing():
        rows = software.orders(store, ids)
        for row in rows:
            if row.ended is None and row.verb == "verify":
                software.forget_order(store, row.id)
            elif row.ended is None:
                software.report_late(store, row.id, current_user())
    return rows


def _is_answered(row: NodeOrder) -> bool:
    return bool(row.ended or row.state == "down" or row.copy_error)


def report(
    title: str, rows: Sequence[NodeOrder], wanted_on: Sequence[str], as_json: bool
) -> ExitCode:
    """Print the results of the orders; return the exit code.

    Software that is absent is a failure on the nodes where it is wanted, and if no node has it.
    """
    if as_json:
        emit_json({"software": title, "nodes": [_document(row) for row in rows]})
    else:
        page = sheet()
        for row in _by_node(rows):
            software_page.outcome(page, row, title, is_wanted=row.node in wanted_on)
        show(page)
    if any(row.ended is None for row in rows):
        return ExitCode.NODE
    absent = [row.node for row in rows if row.is_absent]
    is_missing = len(absent) == len(rows) or not set(absent).isdisjoint(wanted_on)
    return ExitCode.FAILED if is_missing or not all(row.ok for row in rows) else ExitCode.DONE


def _by_node(rows: Sequence[NodeOrder]) -> list[NodeOrder]:
    """Return one order of each node, without purges in vain beside others."""
    nodes = dict.fromkeys(row.node for row in rows)
    return [min((row for row in rows if row.node == node), key=_rank) for node in nodes]


def _rank(row: NodeOrder) -> int:
    if row.ended is None:
        return 0
    return 3 if row.is_in_vain else 2 if row.ok else 1


def _document(row: NodeOrder) -> "SoftwareOrder":
    from d0ctl.cli.schemas.fill import fill
    from d0ctl.cli.schemas.software import SoftwareOrder

    has_ended = row.ended is not None
    return fill(
        SoftwareOrder,
        row,
        platform=row.platform or None,
        ok=bool(row.ok) if has_ended else None,
        message=row.message if has_ended else software_page.obstacle(row),
    )


def split(title: str) -> tuple[str, str]:
    """Return the name and the version of software. Raises BadUsage."""
    name, slash, version = title.partition("/")
    if not (name and slash and version):
        raise BadUsage(f"`{title}` is not software: write NAME/VERSION, e.g. `reco/v12-01`")
    return name, version


def no_such(title: str, known: Iterable[str] = ()) -> NotFound:
    """Return the error for software that is not in the catalogue, with the nearest title."""
    hint = nearest(title, known) or "d0ctl software list"
    return NotFound(f"there is no software `{title}`", hint=hint)
