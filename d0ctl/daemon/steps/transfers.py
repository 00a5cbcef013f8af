"""Transfers of files that packages or results/ need: request, start and end."""

import logging
import time
from collections import Counter, defaultdict
from collections.abc import Sequence

from d0ctl.daemon import transfer_plan
from d0ctl.daemon.desk import Desk
from d0ctl.daemon.in_progress import CopyJob, Transfer
from d0ctl.daemon.steps import inventory
from d0ctl.daemon.streams import THIS_MACHINE, Pair
from d0ctl.daemon.transfer_plan import MOST_TRANSFERS, TransferPlan, delay
from d0ctl.daemon.turn import Turn
from d0ctl.nodes.courier_reports import LoginTried, StreamEnded, TransferEnded
from d0ctl.show.drawing import remark_texts
from d0ctl.store.attempts import outputs
from d0ctl.store.clusters import replicas
from d0ctl.store.files import copies, direct_logins, edited_files, links
from d0ctl.store.files.copies import Arrival, CopySource
from d0ctl.store.nodes import gathering, registry

log = logging.getLogger(__name__)

SPREAD_S = 2.0
"""How often to check which files should have further copies."""

SPREAD_SHARE = 200
"""That takes at most one part in so many of the time."""

GATHER_S = 0.5
"""How often files are gathered: those made in the meantime share a stream."""

GATHER_SHARE = 20
"""If that takes more than one part in so many of the loop's time, it is done less often."""

PUT_BACK_S = 5.0
"""How often files from outside are looked at that have made packages be out of date."""

PUT_BACK_SHARE = 200
"""That takes at most one part in so many of the time."""


def gather_inputs(desk: Desk, turn: Turn) -> None:
    """Request inputs for packages that wait for more, on the nodes where they will probably run."""
    if turn.received.messages:
        desk.gathering.update(gathering.noticed(desk.store))
    began = time.monotonic()
    if not desk.gathering or began < desk.gather_due:
        return
    desk.gathering = set(gathering.gather(desk.store, desk.gathering, now=turn.now))
    desk.gather_due = time.monotonic() + max(GATHER_S, GATHER_SHARE * (time.monotonic() - began))


def begin_transfers(desk: Desk, turn: Turn) -> None:
    """Begin the transfers that can be made now, with a limited number in progress at each node.

    The others are postponed: at the head of the list they would block those behind them.
    """
    loads = Counter(desk.transfers.values())
    planner = TransferPlan(desk, turn, loads, defaultdict(list), defaultdict(list))
    for row in copies.wanted(desk.store, now=turn.now, limit=2 * MOST_TRANSFERS):
        transfer = Transfer(row.file_id, row.cluster_id, row.result)
        if transfer in desk.transfers:
            planner.postpone(transfer)
        else:
            planner.begin_or_delay(transfer, row)
    planner.collect()
    planner.begin_streams()


def note_login(desk: Desk, report: LoginTried, now: float) -> None:
    """Record whether a node could log in at another one."""
    direct_logins.note(desk.store, report.node, report.callee, report.fault, now=now)
    if report.fault:
        ends = desk.name_of(report.node), desk.name_of(report.callee)
        log.info("node %s can't log in at %s: %s", *ends, report.fault)


def end_stream(desk: Desk, report: StreamEnded, now: float) -> None:
    """Make room for another stream, wake transfers that waited for it, and record its rate."""
    links.note(
        desk.store, report.source, report.node, report.size, report.took_s, files=report.files,
        now=now,
    )  # fmt: skip
    desk.streams.end(Pair(report.source, report.node))
    copies.wake(desk.store, now=now, within=transfer_plan.BUSY_S)
    desk.wake.set()


def end_transfers(desk: Desk, reports: Sequence[TransferEnded], now: float) -> None:
    """Record the copies that transfers have made, all at once."""
    arrivals = []
    for report in reports:
        transfer, copy = report.name
        desk.transfers.pop(transfer, None)
        ends = (report.node, THIS_MACHINE) if transfer.is_here else (THIS_MACHINE, report.node)
        links.note(desk.store, *ends, report.facts.size, report.took_s, now=now)
        node = None if transfer.is_here else report.node
        arrival = Arrival(
            **transfer._asdict(), path=copy.target, node=node, **report.facts._asdict()
        )
        arrivals.append(arrival)
    edited_files.excuse_readers(desk.store, copies.arrive(desk.store, arrivals, now=now))


def notice_put_back(desk: Desk, turn: Turn) -> None:
    """Let packages be up to date again that have read the contents which a person put back."""
    began = time.monotonic()
    if began < desk.put_back_due:
        return
    desk.put_back = edited_files.excuse_readers_of_put_back(desk.store, desk.put_back)
    ended = time.monotonic()
    desk.put_back_due = ended + max(PUT_BACK_S, PUT_BACK_SHARE * (ended - began))


def fail_transfer(desk: Desk, report: TransferEnded, now: float) -> None:
    """Record why a transfer failed, and when it is tried again.

    A source that is certainly gone counts as lost, and is made again if still needed.
    """
    job: CopyJob = report.name
    transfer, copy = job
    desk.transfers.pop(transfer, None)
    assert report.error is not None
    log.warning("file %d: %s", transfer.file, report.error)
    is_gone = report.is_gone or (
        report.is_spoilt and copies.has_failed_for_good(desk.store, *transfer)
    )
    found = _copies_at(desk, transfer.file, copy.source) if is_gone else []
    lost = [(transfer.file, row.cluster_id) for row in found]
    is_over = is_gone and not lost and not transfer.is_here
    if is_over and copies.give_up(desk.store, transfer.file, transfer.cluster):
        return
    delay(desk, transfer, report.error, now)
    if is_gone and report.is_spoilt:
        for verdict in outputs.forget_wrong(desk.store, lost, report.error, now=now):
            log.warning("%s", remark_texts.verdict(verdict))
    elif is_gone and not inventory.are_to_be_listed(desk, {row.node_id for row in found}):
        copies.lose(desk.store, lost, now=now)


def _copies_at(desk: Desk, file: int, path: str) -> list[CopySource]:
    return [row for row in copies.copies(desk.store, file) if row.path == path]


def spread_hot_inputs(desk: Desk, turn: Turn) -> None:
    """Request further copies of files that many packages will read."""
    began = time.monotonic()
    if began < desk.spread_due:
        return
    clusters = {row.id: row.cluster_id for row in registry.nodes(desk.store)}
    busy = {clusters.get(node, 0) for pair in desk.streams.busy for node in pair}
    for replica in replicas.spread(desk.store, busy, now=turn.now):
        log.info("file %d gets a copy in cluster %d: %d packages read it, and the link is free",
                 replica.file, replica.cluster, replica.readers)  # fmt: skip
    ended = time.monotonic()
    desk.spread_due = ended + max(SPREAD_S, SPREAD_SHARE * (ended - began))


def drop_idle_transfers(desk: Desk, turn: Turn) -> None:
    """Drop transfers for packages that have gone to other nodes."""
    copies.forget_idle(desk.store)
