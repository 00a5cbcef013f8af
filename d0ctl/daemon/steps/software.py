"""Software for the nodes: pushed, verified, purged (InGrid, use cases VI and VII)."""

import logging
from dataclasses import dataclass
from functools import partial

from d0ctl.daemon.control import Control
from d0ctl.nodes import carry
from d0ctl.nodes.carry import Copy
from d0ctl.nodes.courier import Carried, Courier, Weight
from d0ctl.nodes.link import Frame, Link
from d0ctl.store.connection import Row
from d0ctl.store.nodes import software

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Delivery:
    """The name of an errand that brings an archive to a node."""

    node: int
    checksum: str
    archive: str


def see_to_software(control: Control, now: float) -> None:
    """Bring the archives that nodes need, and order what they are to do with their software."""
    for node in control.couriers:
        courier = control.courier(node)
        if courier is not None:
            for row in software.archives_wanted(control.store, node, now=now):
                _bring(control, courier, row)
            for row in software.open_orders(control.store, node):
                _order(control, courier, row)


def _bring(control: Control, courier: Courier, row: Row) -> None:
    key = (courier.node, row["checksum"])
    if key in control.delivering:
        return
    name = Delivery(courier.node, row["checksum"], row["archive"])
    control.after(control.delivering.add, key)
    control.after(courier.errand, name, partial(_errand, name))


def _errand(name: Delivery, courier: Courier, link: Link) -> Weight:
    target = f"{link.base}/{software.place_of(name.checksum)}"
    return carry.bring(Copy(name.archive, target, None, name.checksum), courier, link)


def _order(control: Control, courier: Courier, row: Row) -> None:
    """Send an order once a link; a push waits for its archive."""
    if row["id"] in control.software_asked:
        return
    frame = software.frame_of(row)
    if frame is not None:
        control.after(control.software_asked.__setitem__, row["id"], courier.node)
        control.after(courier.order, frame)


def delivered(control: Control, report: Carried, now: float) -> None:
    """An archive has arrived, or could not be brought."""
    errand: Delivery = report.errand
    control.delivering.discard((errand.node, errand.checksum))
    if report.trouble is None:
        software.arrive(control.store, errand.node, errand.checksum, now=now)
        return
    log.warning("archive %s: %s", errand.archive, report.trouble)
    software.delay(control.store, errand.node, errand.checksum, report.trouble,
                   is_gone=report.is_gone, now=now)  # fmt: skip


def answered(control: Control, node: int, frame: Frame, now: float) -> None:
    """A node has done what it was asked to do with its software, or says why not."""
    software.end_order(control.store, node, frame, now=now)
