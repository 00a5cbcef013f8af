"""The desk of a process that drives packages: its couriers and their work."""

import math
import queue
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from msgspec import Struct, field

from d0ctl.config import Home
from d0ctl.daemon import streams
from d0ctl.daemon.in_progress import (
    Archiver,
    ArchiveTransfer,
    AttemptOrder,
    BatchDesk,
    CopyJob,
    Inventory,
    PurgeOrder,
    RefusedEnd,
    Transfer,
)
from d0ctl.daemon.streams import THIS_MACHINE, Pair, Streams
from d0ctl.dropbox import DropBox
from d0ctl.errors import D0Error, NotFound
from d0ctl.nodes.batch.engine import Engine
from d0ctl.nodes.carry import copy_here
from d0ctl.nodes.courier import Courier
from d0ctl.nodes.courier_reports import Report, TransferEnded
from d0ctl.nodes.link import Site
from d0ctl.schedule.resources import Soon
from d0ctl.store import Store
from d0ctl.store.clusters.pilots import BatchSystem
from d0ctl.store.files.copies import Arrival

if TYPE_CHECKING:
    from d0ctl.daemon.broker import Broker
    from d0ctl.daemon.delivery import Delivery
    from d0ctl.daemon.line_maker import LineMaker
    from d0ctl.daemon.task_worker import TaskWorker
    from d0ctl.event_queue.listener import Listener

FORGET_ORDERS_S = 3600.0
"""How long a sent order is remembered."""

LEAST_S = 0.05
"""The shortest time until packages are scheduled again although nothing has happened."""


class Desk(Struct):
    """The store, the drop-box and the couriers of one process, and its work in progress.

    Only the thread of the loop uses it; couriers and the copier call `report`. `job` limits
    scheduling to one job and the packages of other jobs that it needs; None means all jobs.
    """

    home: Home
    store: Store
    dropbox: DropBox
    site: Site
    job: int | None = None
    is_over: bool = False
    """Whether all is done for which this process drives: pilots without packages end at once."""
    turn_s: float = 0.0
    """How long a turn of the loop takes, on average of the last ones."""
    lead_s: float = 0.0
    """For how many seconds all nodes had work when packages were last scheduled."""
    soon: list[Soon] = field(default_factory=list)
    """The packages for which free CPUs are kept, as their inputs are on the way."""
    ready_left: int = 0
    """How many packages were ready after the last pass of the scheduler."""
    is_between_passes: bool = False
    """Whether this turn needs a pass only if something that arrived, or became ready, needs it."""
    pass_due: float = math.inf
    """When packages are to be scheduled although nothing may have happened, by the monotonic clock:
    their inputs have to leave before CPUs become free."""
    needed_due: float = 0.0
    """When to search again for the packages that `job` needs, by the monotonic clock."""

    couriers: dict[int, Courier] = field(default_factory=dict)
    mailbox: queue.SimpleQueue[Report] = field(default_factory=queue.SimpleQueue)
    wake: threading.Event = field(default_factory=threading.Event)
    """Set when there is something to do before the loop would check by itself."""
    down_since: dict[int, float] = field(default_factory=dict)
    """Since when nodes have not answered, by the monotonic clock."""
    contacts: dict[int, float] = field(default_factory=dict)
    """The last contact of each node that was written to the database."""
    clock_ahead_s: float | None = None
    """The wall clock minus the monotonic one, when last compared."""

    transfers: dict[Transfer, int] = field(default_factory=dict)
    """Transfers in progress, and the node that each runs on, or THIS_MACHINE."""
    streams: Streams = field(default_factory=Streams)
    """The streams of files between nodes in progress."""
    gathering: set[int] = field(default_factory=set)
    """Packages whose inputs are copied while they wait for others."""
    gather_due: float = 0.0
    """When to do so again, by the monotonic clock."""
    capacity_due: float = 0.0
    space_due: float = 0.0
    room_due: float = 0.0
    forecast_due: float = 0.0
    put_back_due: float = 0.0
    spread_due: float = 0.0
    """When to count the files in caches again, by the monotonic clock."""
    put_back: Mapping[int, float] = field(default_factory=dict)
    """The files from outside that are as they were read, and when they were touched."""
    archiver: Archiver = field(default_factory=Archiver)
    archives: set[ArchiveTransfer] = field(default_factory=set)
    software_orders: dict[int, int] = field(default_factory=dict)
    """Orders about software that were sent, and the node of each."""
    orders: dict[AttemptOrder, float] = field(default_factory=dict)
    """When each order was last sent."""
    purges: dict[int, PurgeOrder] = field(default_factory=dict)
    unknown: dict[int, int] = field(default_factory=dict)
    """Attempts without need, as of a former database, that their nodes were asked to end."""
    unswept: dict[int, Sequence[int]] = field(default_factory=dict)
    """Attempts with folders in the cache of a node that are still to be checked."""
    inventories: dict[int, Inventory] = field(default_factory=dict)
    inventory_due: dict[int, float] = field(default_factory=dict)
    """When nodes list their files again, by the monotonic clock."""
    gone: Counter[int] = field(default_factory=Counter)
    """How many copies of each node turned out to be gone since it last listed its files."""
    suspects: dict[int, set[str]] = field(default_factory=dict)
    """Unknown files in the caches of nodes that are searched for once more."""
    hashes: dict[str, Arrival] = field(default_factory=dict)
    """Unknown files whose checksums were requested, and the copies that they may be."""
    space_requests: dict[int, int] = field(default_factory=dict)
    """Nodes with a full disk, and how many bytes their wrappers need."""
    refused_ends: dict[int, RefusedEnd] = field(default_factory=dict)
    """End messages that were refused, by attempt."""

    broker: "Broker | None" = None
    """The broker of the site, once it has been asked."""
    batches: dict[int, BatchDesk] = field(default_factory=dict)
    """The batch systems whose pilots this process manages, by cluster."""

    lines: "LineMaker | None" = None
    """The thread that makes lines for groups of late outputs, once there are any."""
    tasks: "TaskWorker | None" = None
    """What works on tasks, once there are any."""
    delivery: "Delivery | None" = None
    """The threads that send mail and run the notification command, once there is something."""
    listener: "Listener | None" = None
    """The thread that takes events from a queue, if the site has one."""
    copier: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "copier"))

    def set_pass_due(self, seconds: float) -> None:
        """Have packages scheduled again after some seconds."""
        self.pass_due = time.monotonic() + max(seconds, LEAST_S)

    def report(self, report: Report) -> None:
        """Take a report for the next turn; called from other threads."""
        self.mailbox.put(report)
        self.wake.set()

    def courier(self, node: int) -> Courier | None:
        """Return the courier of a node if orders can be sent to it now."""
        courier = self.couriers.get(node)
        return courier if courier is not None and courier.is_up else None

    def batch_of(self, system: BatchSystem) -> BatchDesk:
        """Return what is known of a batch system, which the site file may have changed."""
        login = system.pilots.address(system.name)
        batch = self.batches.get(system.id)
        if batch is None or batch.engine.login != login:
            if batch is not None:
                batch.engine.end()
            engine = Engine(login, self.site.known_hosts, self.wake.set)
            batch = self.batches[system.id] = BatchDesk(engine, system.pilots)
        elif batch.settings != system.pilots:
            batch.settings, batch.failures, batch.submit_due = system.pilots, 0, 0.0
            batch.accounts_due = 0.0
        return batch

    def name_of(self, node: int) -> str:
        """Return the name of a node, or its number if this process has no courier for it."""
        courier = self.couriers.get(node)
        return str(node) if courier is None else courier.address.name

    def begin(self, courier: Courier) -> None:
        """Start a courier."""
        self.couriers[courier.node] = courier
        courier.start()

    def end(self, node: int) -> None:
        """Stop the courier of a node; other nodes may take over its transfers."""
        self.couriers.pop(node).leave()
        self.purges.pop(node, None)
        self.down_since.pop(node, None)
        self.transfers = {key: at for key, at in self.transfers.items() if at != node}
        self.archives = {archive for archive in self.archives if archive.node != node}
        self.forget_software_orders(node)
        self.forget_inventory(node)

    def forget_inventory(self, node: int) -> None:
        """Forget that a node was asked for its files: it lists them when it is in contact again."""
        self.inventories.pop(node, None)
        self.inventory_due.pop(node, None)
        self.suspects.pop(node, None)
        self.gone.pop(node, None)
        others = self.hashes.items()
        self.hashes = {name: arrival for name, arrival in others if arrival.node != node}

    def begin_inventory(self, node: int, listed: Inventory) -> None:
        """Record that a node was asked to list its files."""
        self.inventories[node] = listed

    def begin_hash(self, name: str, arrival: Arrival) -> None:
        """Record that the checksum of an unknown file was asked for."""
        self.hashes[name] = arrival

    def set_suspects(self, node: int, paths: set[str] | None) -> None:
        """Record the unknown files of a node to search for once more, None for none."""
        if paths is None:
            self.suspects.pop(node, None)
        else:
            self.suspects[node] = paths

    def forget_software_orders(self, node: int) -> None:
        """Forget which orders about software were sent to a node: they are sent again."""
        sent = self.software_orders.items()
        self.software_orders = {order: at for order, at in sent if at != node}

    def refuse_end(self, attempt: int, why: str, now: float) -> None:
        """Record that an end message was refused; its node is asked to send it again."""
        refused = self.refused_ends.setdefault(attempt, RefusedEnd(why, now))
        refused.why, refused.times = why, refused.times + 1

    def begin_transfer(self, transfer: Transfer, node: int) -> None:
        """Record that a transfer is in progress."""
        self.transfers[transfer] = node

    def begin_stream(self, pair: Pair, jobs: Sequence[CopyJob], callers: Sequence[int]) -> None:
        """Start a stream of files from one node to another.

        One of the nodes `callers` logs in at the other for it, if it can.
        """
        self.streams.begin(pair)
        for job in jobs:
            self.begin_transfer(job.transfer, pair.target or pair.source)
        ends = self.couriers.get(pair.source), self.couriers.get(pair.target)
        streams.run(jobs, *ends, self.report, callers)

    def begin_archive(self, archive: ArchiveTransfer) -> None:
        """Record that an archive is on its way."""
        self.archives.add(archive)

    def sent_orders(self, orders: Iterable[AttemptOrder], now: float) -> None:
        """Record that orders were sent, and forget old ones."""
        recent = {order: at for order, at in self.orders.items() if now - at < FORGET_ORDERS_S}
        self.orders = recent | dict.fromkeys(orders, now)

    def forget_orders(self, attempts: Collection[int]) -> None:
        """Forget which orders were sent about attempts: they may be lost with a link."""
        sent = self.orders.items()
        self.orders = {order: at for order, at in sent if order.attempt not in attempts}

    def sent_software_order(self, order: int, node: int) -> None:
        """Record that an order about software was sent."""
        self.software_orders[order] = node

    def sent_purges(self, node: int, order: PurgeOrder) -> None:
        """Record what a node has been asked to remove."""
        self.purges[node] = order

    def set_unswept(self, node: int, attempts: Sequence[int]) -> None:
        """Record the attempts with folders in the cache of a node that are still to be checked."""
        if attempts:
            self.unswept[node] = attempts
        else:
            self.unswept.pop(node, None)

    def copy_here(self, job: CopyJob) -> None:
        """Copy a file on this machine, in a thread of its own; the result comes as a report."""

        def work() -> None:
            try:
                facts = copy_here(job.copy, self.site.reserve)
            except (D0Error, OSError) as error:
                is_gone = isinstance(error, NotFound)
                self.report(TransferEnded(THIS_MACHINE, job, str(error), is_gone))
            else:
                self.report(TransferEnded(THIS_MACHINE, job, None, facts=facts))

        self.copier.submit(work)
