"""Software for nodes: archives are copied, and nodes are asked to install, check or purge.

See InGrid, use cases VI and VII.
"""

import logging
from functools import partial

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.in_progress import ArchiveTransfer
from d0ctl.daemon.turn import Turn
from d0ctl.nodes import carry
from d0ctl.nodes.carry import Copy
from d0ctl.nodes.courier import Courier
from d0ctl.nodes.courier_reports import FileFacts, TransferEnded
from d0ctl.nodes.link import Frame, Link
from d0ctl.store.connection import Row
from d0ctl.store.nodes import software
from d0ctl.store.nodes.software import OpenOrder

log = logging.getLogger(__name__)


def manage_software(desk: Desk, turn: Turn) -> None:
    """Copy the archives that nodes need, and send the orders about their software."""
    for node in software.lacking(desk.store):
        courier = desk.courier(node)
        if courier is not None:
            for row in software.archives_wanted(desk.store, node, now=turn.now):
                _bring(desk, turn, courier, row)
            for order in software.open_orders(desk.store, node):
                _order(desk, turn, courier, order)


def _bring(desk: Desk, turn: Turn, courier: Courier, row: Row) -> None:
    archive = ArchiveTransfer(courier.node, row["checksum"], row["archive"])
    if archive not in desk.archives:
        turn.after(desk.begin_archive, archive)
        turn.after(courier.transfer, archive, partial(_bring_archive, archive))


def _bring_archive(archive: ArchiveTransfer, courier: Courier, link: Link) -> FileFacts:
    target = f"{link.base}/{software.place_of(archive.checksum)}"
    return carry.bring(Copy(archive.archive, target, None, archive.checksum), courier, link)


def _order(desk: Desk, turn: Turn, courier: Courier, row: OpenOrder) -> None:
    """Send an order once per link; a push waits for its archive."""
    if row.id in desk.software_orders:
        return
    frame = software.frame_of(row)
    if frame is not None:
        turn.after(desk.sent_software_order, row.id, courier.node)
        turn.after(courier.order, frame)


def end_archive(desk: Desk, report: TransferEnded, now: float) -> None:
    """Record that an archive has arrived, or the error and the time of the next try."""
    archive: ArchiveTransfer = report.name
    desk.archives.discard(archive)
    node, checksum = archive.node, archive.checksum
    if report.error is None:
        software.arrive(desk.store, node, checksum, now=now)
        return
    log.warning("archive %s: %s", archive.archive, report.error)
    software.delay(desk.store, node, checksum, report.error, is_gone=report.is_gone, now=now)


def end_order(desk: Desk, node: int, frame: Frame, now: float) -> None:
    """Record the answer of a node to an order about its software."""
    software.end_order(desk.store, node, frame, now=now)
