"""Inventories: what is in the caches of the nodes, compared with the copies that are recorded.

InGrid, "Database-Sync Daemons": changes behind d0ctl's back are noticed at each contact with a
node, and again and again while it is in contact.
"""

import logging
import time
import uuid

from d0ctl.daemon.desk import Desk, Inventory
from d0ctl.daemon.turn import Turn
from d0ctl.nodes.courier import Courier
from d0ctl.nodes.inventory import is_another
from d0ctl.nodes.link import Frame
from d0ctl.store.checks.belongings import wanted
from d0ctl.store.connection import Row
from d0ctl.store.files import inventory
from d0ctl.store.files.copies import Arrival
from d0ctl.store.files.inventory import CacheFinding
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.site import default
from d0ctl.units import count

log = logging.getLogger(__name__)

AT_ONCE = 4
"""How many nodes list their files at the same time."""

ANSWER_S = 600.0
"""A list that has not come after this is asked for again when it is due."""

AGAIN_S = 10.0
"""After this a node lists its files again if some are unknown: perhaps they were on their way."""

MOST_COMPARED = 5000
"""How many unknown files of a node are looked up at once."""


def take_inventories(desk: Desk, turn: Turn) -> None:
    """Ask nodes for lists of their files when they are due, and compare those that have come."""
    every_s = float(default(desk.store, "inventory-every"))
    now = time.monotonic()
    for node, listed in list(desk.inventories.items()):
        if listed.is_whole:
            _compare(desk, turn, node, listed, every_s)
        elif now - listed.asked > ANSWER_S:
            _end(desk, node, now + every_s)
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
    """Take a part of the list of a node."""
    listed = desk.inventories.get(node)
    if listed is not None and listed.id == frame["id"]:
        listed.survey.take(frame["entries"])
        listed.is_whole = not frame["more"]


def _compare(desk: Desk, turn: Turn, node: int, listed: Inventory, every_s: float) -> None:
    """Compare a page of copies; after the last one look for what is unknown."""
    row = registry.by_id(desk.store, node)
    if row is None:
        _end(desk, node, time.monotonic())
        return
    page = inventory.page(desk.store, node, listed.after)
    found = [finding for copy in page if (finding := _finding(listed, row, copy, turn.now))]
    if found:
        inventory.lose(desk.store, found, row["cluster_id"], now=turn.now)
        copies = count(len(found), "copy", "copies")
        log.warning("node %s: %s vanished or changed, such as %s", row["name"], copies,
                    found[0].path)  # fmt: skip
    if len(page) == inventory.PAGE:
        listed.after = page[-1]["file_id"]
    else:
        _end(desk, node, time.monotonic() + _look_for_unknown(desk, turn, row, listed, every_s))


def _finding(listed: Inventory, row: Row, copy: Row, now: float) -> CacheFinding | None:
    """Return what is wrong with a copy; nothing is of one that came after the list was asked."""
    start = f"{row['base']}/"
    name = copy["path"].removeprefix(start)
    listed.known.add(name)
    if not copy["path"].startswith(start) or copy["made"] >= listed.began:
        return None
    if listed.survey.is_unsettled(name):
        return None
    if name not in listed.survey.files:
        return CacheFinding(row["id"], copy["path"], "vanished", copy["file_id"], now)
    seen = listed.survey.copies.get(name)
    if seen is not None and is_another(copy, seen):
        return CacheFinding(row["id"], copy["path"], "changed", copy["file_id"], now)
    return None


def _look_for_unknown(desk: Desk, turn: Turn, row: Row, listed: Inventory, every_s: float) -> float:
    """Record unknown files, or have them compared; return the seconds to the next inventory.

    A file is unknown if two inventories find it: one may find a file that is on its way.
    """
    node = row["id"]
    names = sorted(listed.survey.cached() - listed.known)[:MOST_COMPARED]
    entries = listed.survey.entries(row["base"], names)
    known = wanted(desk.store, row, entries)
    entries = [entry for entry in entries if entry["path"] not in known]
    for lacking in inventory.lacking(desk.store, row["cluster_id"], entries):
        name, stamp = uuid.uuid4().hex, listed.survey.copies[_short(row, lacking.path)]
        arrival = Arrival(lacking.file_id, row["cluster_id"], 0, lacking.path, node, lacking.size,
                          lacking.checksum, stamp["inode"], stamp["mtime"])  # fmt: skip
        courier = desk.courier(node)
        if courier is not None:
            turn.after(desk.begin_hash, name, arrival)
            turn.after(courier.order, {"kind": "hash", "id": name, "path": lacking.path})
    unknown = {str(entry["path"]) for entry in entries}
    suspects = desk.suspects.get(node)
    inventory.end(desk.store, node, unknown & (suspects or set()), now=turn.now)
    if unknown and suspects is None:
        turn.after(desk.set_suspects, node, unknown)
        return AGAIN_S
    turn.after(desk.set_suspects, node, None)
    return every_s


def _short(row: Row, path: str) -> str:
    return path.removeprefix(f"{row['base']}/")


def _end(desk: Desk, node: int, due: float) -> None:
    desk.inventories.pop(node, None)
    desk.inventory_due[node] = due


def end_hash(desk: Desk, node: int, frame: Frame, now: float) -> None:
    """Take an unknown file for the copy that it may be, if it has its checksum."""
    arrival = desk.hashes.pop(frame["id"], None)
    if arrival is None or not frame["ok"]:
        return
    if (frame["size"], frame["checksum"]) == (arrival.size, arrival.checksum):
        inventory.take_in(desk.store, node, arrival, now=now)
        log.info("node %s: took in %s", desk.name_of(node), arrival.path)
