"""Inventories: the files in the caches of nodes, compared with the recorded copies.

InGrid, "Database-Sync Daemons": changes that d0ctl did not make are noticed at each contact
with a node, and regularly while it is in contact.
"""

import logging
import time
import uuid
from collections.abc import Iterable

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.in_progress import Inventory
from d0ctl.daemon.steps import rereading
from d0ctl.daemon.turn import Turn
from d0ctl.model import Node
from d0ctl.nodes.courier import Courier
from d0ctl.nodes.inventory import SHARED, is_another
from d0ctl.nodes.link import Frame
from d0ctl.store.checks.belongings import wanted
from d0ctl.store.clusters import doubt
from d0ctl.store.files import copies, inventory
from d0ctl.store.files.copies import Arrival
from d0ctl.store.files.inventory import SINCE_BACKUP, CachedCopy, CacheFinding
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.site import default
from d0ctl.units import count

log = logging.getLogger(__name__)

AT_ONCE = 4
"""How many nodes list their files at the same time."""

ANSWER_S = 600.0
"""A list that has not arrived after this time is requested again when it is due."""

AGAIN_S = 10.0
"""A node lists its files again after this time if some are unknown: they may be in transit."""

DOUBTED_S = 60.0
"""A node whose cache is in doubt lists its files this often: they may be back."""

MOST_GONE = 20
"""After so many missing copies, a node lists its files again."""

MOST_COMPARED = 5000
"""How many unknown files of a node are looked up at once."""


def take_inventories(desk: Desk, turn: Turn) -> None:
    """Ask nodes for lists of their files when due, and compare the lists that have arrived."""
    inventory.forget_old(desk.store, now=turn.now)
    every_s = float(default(desk.store, "inventory-every"))
    now = time.monotonic()
    for node, listed in list(desk.inventories.items()):
        if listed.is_whole:
            _compare(desk, turn, node, listed, every_s)
        elif now - listed.asked > ANSWER_S:
            _end(desk, node, now + every_s)
    latest = now + max(every_s, AGAIN_S)  # the interval may be shorter than it was
    desk.inventory_due = {node: min(due, latest) for node, due in desk.inventory_due.items()}
    due = [node for node in desk.couriers
           if every_s and node not in desk.inventories
           and now >= desk.inventory_due.get(node, 0.0)]  # fmt: skip
    for node in due[: max(0, AT_ONCE - len(desk.inventories))]:
        courier = desk.courier(node)
        if courier is not None:
            _ask(desk, turn, courier)


def _ask(desk: Desk, turn: Turn, courier: Courier) -> None:
    name = uuid.uuid4().hex
    turn.after(desk.begin_inventory, courier.node, Inventory(name, turn.now, time.monotonic()))
    turn.after(courier.order, {"kind": "survey", "id": name, "checksums": False})


def take_part(desk: Desk, node: int, frame: Frame) -> None:
    """Add a part of the list of a node."""
    listed = desk.inventories.get(node)
    if listed is not None and listed.id == frame["id"]:
        listed.survey.take(frame["entries"])
        listed.is_whole = not frame["more"]


def _compare(desk: Desk, turn: Turn, node: int, listed: Inventory, every_s: float) -> None:
    """Compare a page of copies, or record a page of missing ones as lost.

    Nothing counts as lost before all copies are compared, and changed ones read: if most are
    missing, the cache is in doubt. At the end, check the unknown files.
    """
    row = registry.by_id(desk.store, node)
    if row is None:
        _end(desk, node, time.monotonic())
        return
    if not listed.is_compared:
        page = inventory.page(desk.store, node, listed.after)
        is_first = (row.surveyed or 0.0) < desk.site.restored
        restored = desk.site.restored if is_first else 0.0
        listed.copies += len(page)
        for copy in page:
            finding = _finding(listed, row, copy, restored, turn.now)
            name = _short(row, copy.path)
            if finding and not rereading.may_be_same(desk, turn, listed, copy, finding, name):
                listed.missing.append(finding)
        listed.is_compared = len(page) < inventory.PAGE
        listed.after = page[-1].file_id if page else listed.after
    if listed.is_compared and rereading.are_read(listed):
        if not listed.is_judged:
            listed.is_judged = True
            _judge(desk, row, listed, turn.now)
        _settle(desk, turn, row, listed, every_s)


def _judge(desk: Desk, row: Node, listed: Inventory, now: float) -> None:
    """Doubt the cache of a node if most of it is missing, or trust it again."""
    store, name, missing = desk.store, row.name, listed.missing
    if row.doubted is None:
        listed.is_doubtful = doubt.is_doubtful(len(missing), listed.copies)
    else:
        listed.is_doubtful = doubt.is_still_doubtful(store, row, len(missing))
    if listed.is_doubtful and row.doubted is None:
        why = doubt.begin(store, row, len(missing), listed.copies, since=listed.began, now=now)
        log.warning("node %s: %s", name, why)
    elif listed.is_doubtful:
        missing.clear()  # they are recorded
    elif row.doubted is not None:
        doubt.end(store, row, now=now)
        log.info("node %s: its cache is not in doubt any more", name)
    if listed.is_doubtful:
        return
    by_others = [finding for finding in missing if finding.finding != SINCE_BACKUP]
    if by_others:
        number = count(len(by_others), "copy", "copies")
        log.warning("node %s: %s vanished or changed, such as %s", name, number, by_others[0].path)
    if len(missing) > len(by_others):
        number = count(len(missing) - len(by_others), "copy", "copies")
        log.info("node %s: %s vanished or changed after the restored backup", name, number)


def _settle(desk: Desk, turn: Turn, row: Node, listed: Inventory, every_s: float) -> None:
    """Record a page of missing copies; they are lost, unless the cache is in doubt."""
    page = listed.missing[: inventory.PAGE]
    del listed.missing[: inventory.PAGE]
    if page:
        inventory.keep(desk.store, page)
    if page and not listed.is_doubtful:
        copies.lose_missing(desk.store, node=row.id, since=page[0].noticed, now=turn.now)
    if not listed.missing:
        again_s = _look_for_unknown(desk, turn, row, listed, every_s)
        _end(desk, row.id, time.monotonic() + min(
            again_s, DOUBTED_S if listed.is_doubtful else again_s))  # fmt: skip


def _finding(
    listed: Inventory, row: Node, copy: CachedCopy, restored: float, now: float
) -> CacheFinding | None:
    """Return what is wrong with a copy; nothing for one recorded after the list was requested.

    Copies written before `restored`, the time of a restore since the last inventory, may have been
    removed or made again by d0ctl itself, of which the backup knows nothing; also those of packages
    that the backup has as running.
    """
    start = f"{row.base}/"
    name = copy.path.removeprefix(start)
    listed.known.add(name)
    if not copy.path.startswith(start) or copy.made >= listed.began:
        return None
    if listed.survey.is_unsettled(name):
        return None
    if name not in listed.survey.files:
        how = SINCE_BACKUP if copy.written < restored else "vanished"
        return CacheFinding(row.id, copy.path, how, copy.file_id, now)
    seen = listed.survey.copies.get(name)
    if seen is not None and is_another(copy, seen):
        how = SINCE_BACKUP if copy.written < restored else "changed"
        return CacheFinding(row.id, copy.path, how, copy.file_id, now)
    return None


def _look_for_unknown(
    desk: Desk, turn: Turn, row: Node, listed: Inventory, every_s: float
) -> float:
    """Record unknown files, or have them compared; return the seconds until the next inventory.

    A file is unknown if two inventories find it: the first may find a file in transit.
    """
    node = row.id
    names = sorted(listed.survey.cached() - listed.known)[:MOST_COMPARED]
    entries = listed.survey.entries(row.base or "", names)
    known = wanted(desk.store, row, entries)
    entries = [entry for entry in entries if entry["path"] not in known]
    for lacking in inventory.lacking(desk.store, row.cluster_id, entries):
        stamp = listed.survey.copies[_short(row, lacking.path)]
        arrival = Arrival(lacking.file_id, row.cluster_id, 0, lacking.path, node, lacking.size,
                          lacking.checksum, stamp["inode"], stamp["mtime"])  # fmt: skip
        rereading.read(desk, turn, arrival)
    unknown = {str(entry["path"]) for entry in entries}
    suspects = desk.suspects.get(node)
    removed = _remove_inputs(desk, row, entries, suspects or set())
    unknown -= removed
    inventory.end(desk.store, node, unknown & (suspects or set()), now=turn.now)
    if unknown and suspects is None:
        turn.after(desk.set_suspects, node, unknown)
        return AGAIN_S
    turn.after(desk.set_suspects, node, None)
    return AGAIN_S if removed and len(names) == MOST_COMPARED else every_s


def _remove_inputs(desk: Desk, row: Node, entries: Iterable[Frame], suspects: set[str]) -> set[str]:
    """Have unknown inputs removed that no job has, as after a restore; return their paths.

    Those that wrappers have fetched are removed only if they are suspects: the message that
    reports one may not have been applied yet.
    """
    shared = f"{row.base}/{SHARED}"
    found = {
        path
        for path, unknown in inventory.inputs(desk.store, row.cluster_id, entries).items()
        if unknown.is_unneeded and (path in suspects or not path.startswith(shared))
    }
    if found:
        inventory.remove(desk.store, row.id, found)
        number = count(len(found), "input")
        log.info("node %s: removes %s of no job, such as %s", row.name, number, min(found))
    return found


def _short(row: Node, path: str) -> str:
    return path.removeprefix(f"{row.base}/")


def _end(desk: Desk, node: int, due: float) -> None:
    desk.inventories.pop(node, None)
    desk.gone.pop(node, None)
    desk.inventory_due[node] = due


def are_to_be_listed(desk: Desk, nodes: Iterable[int | None]) -> bool:
    """Record that a copy on these nodes is missing; return whether to check the rest by inventory.

    A few count as lost at once. If many are missing, the whole cache may be.
    """
    if not default(desk.store, "inventory-every"):
        return False
    listing = [node for node in nodes if node is not None and node in desk.couriers]
    desk.gone.update(listing)
    desk.inventory_due |= dict.fromkeys(listing, 0.0)
    return any(desk.gone[node] > MOST_GONE for node in listing)
