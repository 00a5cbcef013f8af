"""What the agents share for as long as a process drives packages."""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from d0ctl.config import Home
from d0ctl.dropbox import DropBox, Letters
from d0ctl.errors import D0Error, NotFound
from d0ctl.nodes.carry import Copy, copy_here
from d0ctl.nodes.courier import Carried, Courier, Report
from d0ctl.nodes.link import Site
from d0ctl.store import Store

if TYPE_CHECKING:
    from d0ctl.daemon.delivery import Post

Key = tuple[int, int, int]
"""A transfer: file, cluster, whether into results/."""

Order = tuple[int, str]
"""An attempt, and what is asked of it."""

Purge = tuple[int, int | None, str | None]
"""The row of something to be removed, and the attempt or the path."""


@dataclass(slots=True)
class RefusedEnd:
    """An end message that can't be read or applied: why, since when, and how often it came."""

    why: str
    since: float
    times: int = 0
    asked: int = 0
    """How many of these times the node was asked to send it again."""


@dataclass(slots=True)
class Control:
    """The hands of one process that drives: its store, drop-box, couriers and mailbox.

    `job` limits what it schedules to one job and to what that needs of others; None means all.
    """

    home: Home
    store: Store
    dropbox: DropBox
    site: Site
    job: int | None = None
    couriers: dict[int, Courier] = field(default_factory=dict)
    mailbox: queue.SimpleQueue[Report] = field(default_factory=queue.SimpleQueue)
    wake: threading.Event = field(default_factory=threading.Event)
    letters: Letters = field(default_factory=Letters)
    reports: list[Report] = field(default_factory=list)
    refused: dict[int, RefusedEnd] = field(default_factory=dict)
    """End messages that were refused, by attempt."""
    carrying: dict[Key, int] = field(default_factory=dict)
    """Which transfers are under way, and the node of each; 0 is this machine."""
    delivering: set[tuple[int, str]] = field(default_factory=set)
    """Which archives are on their way, by node and checksum."""
    software_asked: dict[int, int] = field(default_factory=dict)
    """Which orders about software were sent, and the node of each."""
    ordered: dict[Order, float] = field(default_factory=dict)
    """When something was last asked of an attempt."""
    purging: dict[int, tuple[float, list[Purge]]] = field(default_factory=dict)
    """What each node was asked to remove, and when; it has not confirmed it yet."""
    unswept: dict[int, list[int]] = field(default_factory=dict)
    """The attempts with files on a node that have yet to be compared with the database."""
    wishes: dict[int, int] = field(default_factory=dict)
    """Nodes whose disks are full, until all has been purged there that can be."""
    down_since: dict[int, float] = field(default_factory=dict)
    """Since when nodes have not answered though we tried, by the monotonic clock."""
    heard: dict[int, float] = field(default_factory=dict)
    """When nodes were heard, as it was last kept."""
    post: "Post | None" = None
    """Who carries what people are to be told; None while nobody is."""
    porter: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "porter"))
    afterwards: list[Callable[[], object]] = field(default_factory=list)
    needed_due: float = 0.0
    """When it looks again which packages of other jobs its job needs, by the monotonic clock."""
    seen: tuple[int, int] = (0, 0)
    """What the database looked like at the last turn."""
    turned: float = 0.0
    """When the last turn ended, by the monotonic clock."""
    rest: float = 0.0
    """How long from there to the next turn at least."""
    trimmed: float = 0.0
    """When freed memory was last given back, by the monotonic clock."""
    slow_done: float = 0.0
    """When the slow steps were last done, by the monotonic clock."""

    def after(self, action: Callable[..., object], *words: Any) -> None:
        """Do this once the transaction of this turn has committed."""
        self.afterwards.append(lambda: action(*words))

    def report(self, report: Report) -> None:
        """Take a report of a courier; called from its threads."""
        self.mailbox.put(report)
        self.wake.set()

    def begin(self, courier: Courier) -> None:
        """Let a courier reach its node."""
        self.couriers[courier.node] = courier
        courier.start()

    def refuse_end(self, attempt: int, why: str, now: float) -> None:
        """Take note of an end message that is refused; its node is asked for it again."""
        known = self.refused.setdefault(attempt, RefusedEnd(why, now))
        known.why, known.times = why, known.times + 1

    def end(self, node: int) -> None:
        """Let a node go; what it was to carry may be carried by another."""
        self.couriers.pop(node).leave()
        self.purging.pop(node, None)
        self.down_since.pop(node, None)
        self.carrying = {key: at for key, at in self.carrying.items() if at != node}
        self.delivering = {key for key in self.delivering if key[0] != node}
        self.forget_orders(node)

    def forget_orders(self, node: int) -> None:
        """What a node was told of its software it may never have had."""
        asked = self.software_asked.items()
        self.software_asked = {order: at for order, at in asked if at != node}

    def name_of(self, node: int) -> str:
        """The name of a node, for people; its number when nobody looks after it here."""
        courier = self.couriers.get(node)
        return str(node) if courier is None else courier.address.name

    def courier(self, node: int) -> Courier | None:
        """The courier of a node, if it is ours and its link is up."""
        courier = self.couriers.get(node)
        return courier if courier is not None and courier.is_up else None

    def copy_here(self, key: Key, copy: Copy) -> None:
        """Copy a file on this machine, in the porter's thread; its end comes as a report."""

        def work() -> None:
            try:
                weight = copy_here(copy, self.site.reserve)
            except (D0Error, OSError) as error:
                self.report(Carried(0, (key, copy), str(error), isinstance(error, NotFound)))
            else:
                self.report(Carried(0, (key, copy), None, weight=weight))

        self.porter.submit(work)
