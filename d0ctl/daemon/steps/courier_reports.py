"""Reports of couriers, written to the store."""

import logging
import time
from collections.abc import Iterable
from itertools import groupby

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.in_progress import NO_PURGE_ORDER, ArchiveTransfer, PurgeOrder
from d0ctl.daemon.steps import inventory, rereading, software, transfers
from d0ctl.daemon.steps.orders import kill_orders
from d0ctl.daemon.turn import Turn
from d0ctl.nodes.courier import Courier, launch, order_many
from d0ctl.nodes.courier_reports import (
    LoginTried,
    NodeDown,
    NodeUp,
    Received,
    Report,
    StreamEnded,
    TransferEnded,
)
from d0ctl.nodes.link import Frame
from d0ctl.sitefile.defaults import GRACE_S
from d0ctl.store.attempts import messages
from d0ctl.store.attempts.launching import launches
from d0ctl.store.jobs import unneeded_files
from d0ctl.store.nodes import contact, registry
from d0ctl.units import clean

log = logging.getLogger(__name__)

REBOOTED = "the node was rebooted"
GONE = "the node does not have it any more"
UNREPORTED = "its wrapper ended without a report while the node was not in contact"


def act_on_reports(desk: Desk, turn: Turn) -> None:
    """Act on what the couriers have reported."""
    for has_arrived, reports in groupby(turn.reports, _has_arrived):
        if has_arrived:
            arrived = [report for report in reports if isinstance(report, TransferEnded)]
            transfers.end_transfers(desk, arrived, turn.now)
        else:
            _act_on_others(desk, turn, reports)


def _has_arrived(report: Report) -> bool:
    """Return whether a report says that a file has arrived."""
    if not isinstance(report, TransferEnded) or isinstance(report.name, ArchiveTransfer):
        return False
    return report.error is None


def _act_on_others(desk: Desk, turn: Turn, reports: Iterable[Report]) -> None:
    for report in reports:
        match report:
            case NodeUp():
                _node_up(desk, turn, report)
            case NodeDown():
                name = desk.name_of(report.node)
                log.warning("node `%s` is down: %s", name, clean(report.error))
                desk.down_since.setdefault(report.node, time.monotonic())
                contact.down(desk.store, report.node, report.error, now=turn.now,
                             wait_s=report.wait_s)  # fmt: skip
            case Received():
                _received(desk, turn, report.node, report.frame)
            case TransferEnded(name=ArchiveTransfer()):
                software.end_archive(desk, report, turn.now)
            case LoginTried():
                transfers.note_login(desk, report, turn.now)
            case StreamEnded():
                transfers.end_stream(desk, report, turn.now)
            case TransferEnded():
                transfers.fail_transfer(desk, report, turn.now)


def _node_up(desk: Desk, turn: Turn, report: NodeUp) -> None:
    """Compare the attempts that a relay has listed with the rows; then send it orders.

    The order matters. The link is accepted after the comparison: a launch sent earlier
    would be missing from the list and count as lost. Kills go before the lease, so that an
    attempt that has been given up never writes outside its folder again.
    """
    node = report.node
    courier = desk.couriers.get(node)
    if courier is None:
        return
    desk.purges.pop(node, None)
    desk.forget_orders(report.attempts)
    desk.forget_software_orders(node)
    desk.forget_inventory(node)
    row = registry.by_id(desk.store, node)
    is_rebooted = bool(row and row.boot and row.boot != report.facts.get("boot_id"))
    error = contact.up(desk.store, node, report.facts, now=turn.now, heard_at=report.heard_at)
    if error:
        contact.down(desk.store, node, error, now=turn.now)
        turn.after(courier.hang_up, error)
        return
    desk.down_since.pop(node, None)
    running = sum(state == "running" for state in report.attempts.values())
    log.info("node %s is up with %d running attempts", courier.address.name, running)
    found = launches.reconcile(desk.store, node, report.attempts, now=turn.now)
    for attempts, why in ((found.lost, GONE), (found.dead, UNREPORTED)):
        reason, message = ("platform-failure", REBOOTED) if is_rebooted else ("lost", why)
        if attempts:
            messages.fail(desk.store, node, attempts, reason=reason, message=message, now=turn.now)
    turn.after(desk.set_unswept, node, report.cached)
    turn.after(courier.accept, report.link)
    turn.after(desk.wake.set)
    turn.after(launch, courier, found.launch)
    _order(turn, courier, "resend", found.resend)
    _order(turn, courier, "kill", found.kill, grace=GRACE_S)
    turn.after(desk.unknown.update, dict.fromkeys(found.kill, node))
    for attempt in found.ask:
        turn.after(courier.order, {"kind": "ask", "id": "status", "attempt": attempt})
    for order in kill_orders(desk.store, launches.killing(desk.store, node)):
        turn.after(courier.order, order)
    turn.after(courier.order, courier.lease_frame)


def _order(turn: Turn, courier: Courier, kind: str, attempts: list[int], **more: float) -> None:
    if attempts:
        turn.after(order_many, courier, {"kind": kind, **more}, attempts)


def _received(desk: Desk, turn: Turn, node: int, frame: Frame) -> None:
    """Act on a frame of a relay that is neither a message nor an answer to a courier."""
    store, now = desk.store, turn.now
    match frame["kind"]:
        case "dead":
            for entry in frame["attempts"]:
                messages.fail(
                    store, node, [entry["attempt"]], reason=str(entry["reason"]),
                    message=str(entry["message"]), now=now,
                )  # fmt: skip
        case "refused":
            reason, message = str(frame["reason"]), str(frame["message"])
            launches.refuse(store, node, frame["attempt"], reason, message, now=now)
        case "absent":
            launches.end_unstarted(store, node, frame["attempts"], now=now)
        case "pong":
            contact.note_free_disk(store, node, frame["disk_free"], now=now)
        case "forgotten":
            _purged(desk, turn, node, frame)
        case "status" if frame["status"] is not None:
            messages.take_status(store, node, frame["attempt"], frame["status"], now=now)
        case "software":
            software.end_order(desk, node, frame, now)
        case "surveyed":
            inventory.take_part(desk, node, frame)
        case "hashed":
            rereading.end(desk, node, frame, now)
        case "fault":
            log.warning("node %s: %s", desk.name_of(node), clean(frame["message"]))


def _purged(desk: Desk, turn: Turn, node: int, frame: Frame) -> None:
    """Record what a node has removed; it is asked to remove the rest later."""
    order = desk.purges.get(node, NO_PURGE_ORDER)
    removed = {*frame["attempts"], *frame["paths"]}
    done = [purge for purge in order.purges if removed & {purge.attempt, purge.path}]
    left = [purge for purge in order.purges if purge not in done]
    unneeded_files.removed(desk.store, (purge.id for purge in done))
    turn.after(desk.sent_purges, node, PurgeOrder(order.sent, left))
