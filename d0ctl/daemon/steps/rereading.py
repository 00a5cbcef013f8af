"""Files in the caches of nodes that are read there, to learn whether they are copies."""

import logging
import time
import uuid

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.in_progress import Inventory, Transfer
from d0ctl.daemon.turn import Turn
from d0ctl.nodes.link import Frame
from d0ctl.store.files import copies, inventory
from d0ctl.store.files.copies import Arrival
from d0ctl.store.files.inventory import CachedCopy, CacheFinding

log = logging.getLogger(__name__)

MOST_REREAD = 5000
"""How many changed copies of a node are read in one inventory."""

REREAD_S = 600.0
"""How long that may take; those not read by then count as changed."""


def read(desk: Desk, turn: Turn, arrival: Arrival) -> bool:
    """Have a node read a file that may be a copy; return whether it is in contact."""
    courier = desk.courier(arrival.node) if arrival.node else None
    if courier is None:
        return False
    name = uuid.uuid4().hex
    turn.after(desk.begin_hash, name, arrival)
    turn.after(courier.order, {"kind": "hash", "id": name, "path": arrival.path})
    return True


def may_be_same(
    desk: Desk, turn: Turn, listed: Inventory, copy: CachedCopy, finding: CacheFinding, name: str
) -> bool:
    """Have a copy read that was changed but has its size, as if it was copied there again.

    Returns whether that decides about the finding.
    """
    seen = listed.survey.copies.get(name)
    if seen is None or copy.checksum is None or copy.size is None or copy.size != seen["size"]:
        return False
    arrival = Arrival(copy.file_id, copy.cluster_id, 0, copy.path, finding.node, copy.size,
                      copy.checksum, seen["inode"], seen["mtime"])  # fmt: skip
    if len(listed.changed) >= MOST_REREAD or not read(desk, turn, arrival):
        return False
    listed.changed[copy.path] = finding
    return True


def are_read(listed: Inventory) -> bool:
    """Return whether all changed copies were read; those that take too long count as changed."""
    if listed.changed and time.monotonic() - listed.asked > REREAD_S:
        listed.missing += listed.changed.values()
        listed.changed.clear()
    return not listed.changed


def end(desk: Desk, node: int, frame: Frame, now: float) -> None:
    """Accept a file as the copy that it may be, if it has its checksum."""
    arrival = desk.hashes.pop(frame["id"], None)
    if arrival is None:
        return
    is_expected = frame["ok"] and (
        (frame["size"], frame["checksum"]) == (arrival.size, arrival.checksum)
    )
    listed = desk.inventories.get(node)
    finding = listed.changed.pop(arrival.path, None) if listed else None
    if listed is not None and finding is not None:
        if is_expected:
            inventory.restamp(desk.store, node, arrival, before=listed.began)
        else:
            listed.missing.append(finding)
    elif is_expected and not _is_replaced(desk, arrival):
        inventory.take_in(desk.store, node, arrival, now=now)
        log.info("node %s: took in %s", desk.name_of(node), arrival.path)


def _is_replaced(desk: Desk, arrival: Arrival) -> bool:
    """Return whether a transfer writes this copy anew, or has done so since the inventory.

    A package launched with the times of the previous file would find its input changed.
    """
    if Transfer(arrival.file, arrival.cluster, arrival.result) in desk.transfers:
        return True
    found = copies.copies(desk.store, arrival.file)
    return any(row.cluster_id == arrival.cluster for row in found)
