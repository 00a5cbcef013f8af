"""A node's courier: holds the link to its relay, carries messages, orders and files.

It runs in threads of its own, so that a sick node slows no other, and touches no
database: what it learns goes to the mailbox of whoever drives it.
"""

import queue
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from d0ctl.errors import D0Error, NodeUnreachable, NotFound
from d0ctl.nodes.download import Garbled, Spoilt
from d0ctl.nodes.frames import Pieces
from d0ctl.nodes.health_check import SILENCE_S, Oversight
from d0ctl.nodes.link import Frame, Link, Site, open_link
from d0ctl.nodes.transport import Address

FIRST_WAIT_S = 1.0
LONGEST_WAIT_S = 60.0
"""How long a courier waits before it tries an unreachable node again: doubled up to this."""


REST_S = 0.02
"""The least time from one delivery to the next: what comes meanwhile shares a file."""

MOST_UNREAD = 8
"""With so many files of its messages unread here, no more is taken from a node."""

PARTING_S = 1.0
"""How long those who stop a courier wait for its threads."""

REPORTED = ("software",)
"""Answers that are not waited for, but reported whenever they come."""

PING: Frame = {"kind": "ping", "id": "ping"}

UNREMARKABLE = ("messages", "accepted", "already")
"""What a relay says that its driver need not be woken for."""


@dataclass(frozen=True, slots=True)
class Up:
    """The relay has shaken hands: what the node is, and which attempts it has in which state.

    `link` is the number of the courier's link, for `Courier.accept`.
    """

    node: int
    facts: dict[str, Any]
    attempts: dict[int, str]
    link: int
    cached: tuple[int, ...] = ()
    """The attempts of which files are in the cache there."""


@dataclass(frozen=True, slots=True)
class Down:
    """The node can't be reached, or was lost; the courier goes on trying."""

    node: int
    trouble: str


@dataclass(frozen=True, slots=True)
class Said:
    """A frame of the relay that the driver has to act on."""

    node: int
    frame: Frame


class Weight(NamedTuple):
    """Size and checksum of a file that was carried, and how it looks where it is now."""

    size: int = 0
    checksum: str = ""
    inode: int | None = None
    mtime: int | None = None


NOTHING = Weight()


@dataclass(frozen=True, slots=True)
class Carried:
    """The end of an errand with files; `trouble` is None when it went well.

    `is_gone` says that the file was not where it should be, `is_spoilt` that what came was
    another file.
    """

    node: int
    errand: Any
    trouble: str | None
    is_gone: bool = False
    is_spoilt: bool = False
    weight: Weight = NOTHING


Report = Up | Down | Said | Carried

Deliver = Callable[[str, Sequence[str]], None]
"""Puts messages of a node where they are safe, and returns when they are."""

Errand = Callable[["Courier", Link], Weight]
"""Work with files over an open link; what the carried file weighs."""


class Courier:
    """The courier of one node, from `start` to `stop`."""

    def __init__(
        self,
        node: int,
        address: Address,
        site: Site,
        *,
        cpus: int | None,
        deliver: Deliver,
        unread: Callable[[str], int] = lambda node: 0,
        report: Callable[[Report], None],
    ) -> None:
        self.node = node
        self.address = address
        self.site = site
        self.cpus = cpus
        self._deliver = deliver
        self._unread = unread
        self._pieces = Pieces()
        self._report = report
        self._stopping = threading.Event()
        self._left = 0.0
        self._orders: queue.SimpleQueue[tuple[int, Frame] | None] = queue.SimpleQueue()
        self._errands: queue.SimpleQueue[tuple[Any, Errand] | None] = queue.SimpleQueue()
        self._answers: dict[str, queue.SimpleQueue[Frame | None]] = {}
        self._link: Link | None = None
        self._number = 0
        self._accepted = 0
        self._leased = 0
        self._heard = 0.0
        self.load: float | None = None
        """The load that the node has told last."""
        self._free = 0
        self._wait = FIRST_WAIT_S
        self._trouble = ""
        self._threads = [
            threading.Thread(target=work, name=f"{address.name} {work.__name__}", daemon=True)
            for work in (self._keep_link, self._write_orders, self._run_errands)
        ]

    def start(self) -> None:
        """Begin to reach the node."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Let the node go; the relay ends, wrappers do not notice."""
        self.leave()
        deadline = self._left + PARTING_S
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def leave(self) -> None:
        """Begin to let the node go, and wait for nothing: a sick node answers late or never."""
        if self._stopping.is_set():
            return
        self._left = time.monotonic()
        self._stopping.set()
        self._orders.put(None)
        self._errands.put(None)
        threading.Thread(target=self._close, name=f"{self.address.name} leave", daemon=True).start()

    @property
    def is_up(self) -> bool:
        """Whether a relay is at the other end right now, and what it listed has been heard."""
        return self._link is not None and self._number == self._accepted

    @property
    def renewal(self) -> Frame:
        """Lets what runs at the node touch the world; the first on a link follows all kills."""
        return {"kind": "lease", "seconds": self.site.lease}

    @property
    def silent(self) -> float:
        """For how many seconds the node has said nothing."""
        return time.monotonic() - self._heard

    def accept(self, link: int) -> None:
        """From now on orders are meant for this link: its `Up` has been acted upon.

        Before that none may be given. What is launched between a relay's list and the
        reading of that list would be missed in it, and be taken for lost.
        """
        self._accepted = link
        self._wait = FIRST_WAIT_S

    def hang_up(self, trouble: str) -> None:
        """End a link that is good for nothing, and try again later; waits for nothing."""
        self._trouble = trouble
        threading.Thread(target=self._close, name=f"{self.address.name} close", daemon=True).start()

    def order(self, frame: Frame) -> None:
        """Send a frame over the accepted link; lost with it, as the reconciliation expects."""
        self._orders.put((self._accepted, frame))

    def errand(self, name: Any, errand: Errand) -> None:
        """Do some work with files; its end is reported as `Carried` under this name."""
        self._errands.put((name, errand))

    def ask(self, link: Link, frame: Frame, timeout: float) -> Frame:
        """Send a frame that has an `id` and wait for its answer. Raises NodeUnreachable."""
        answer: queue.SimpleQueue[Frame | None] = queue.SimpleQueue()
        self._answers[frame["id"]] = answer
        try:
            link.send(frame)
            found = answer.get(timeout=timeout)
        except queue.Empty as error:
            raise NodeUnreachable(f"`{self.address.name}` did not answer in time") from error
        finally:
            self._answers.pop(frame["id"], None)
        if found is None:
            raise NodeUnreachable(f"the link to `{self.address.name}` broke")
        return found

    def _keep_link(self) -> None:
        """Reach the node, listen until it is lost, and again."""
        while not self._stopping.is_set():
            self._trouble, trouble = "", "the relay ended"
            try:
                self._listen(open_link(self.address, self.site, cpus=self.cpus))
            except Exception as error:  # a node may answer anything, and its courier goes on
                trouble = _words(error)
            self._close()
            if not self._stopping.is_set():
                self._report(Down(self.node, self._trouble or trouble))
            wait, self._wait = self._wait, min(LONGEST_WAIT_S, self._wait * 2)
            self._stopping.wait(wait)

    def _listen(self, link: Link) -> None:
        self._heard = time.monotonic()
        self._pieces = Pieces()
        self._number += 1
        self.load = None
        self._link = link
        if self._stopping.is_set():
            return
        self._report(Up(self.node, link.facts, link.attempts, self._number, link.cached))
        link.attempts = {}
        for frames in link.batches():
            self._heard = time.monotonic()
            self._pass_on(link, [frame for frame in frames if frame["kind"] == "messages"])
            for frame in frames:
                self._take(frame)

    def _pass_on(self, link: Link, frames: Sequence[Frame]) -> None:
        """Deliver messages, all that came together as one file, and acknowledge them."""
        files = [file for frame in frames for file in frame["files"] if self._pieces.complete(file)]
        if files:
            self._wait_for_readers()
            self._deliver(self.address.name, [file["text"] for file in files])
            link.send({"kind": "ack", "names": [file["name"] for file in files]})
            self._stopping.wait(REST_S)

    def _wait_for_readers(self) -> None:
        """Take no more from a node than is read here: what it sends too fast waits there."""
        while self._unread(self.address.name) >= MOST_UNREAD and not self._stopping.is_set():
            self._stopping.wait(REST_S)
            self._heard = time.monotonic()

    def _take(self, frame: Frame) -> None:
        if frame["kind"] == "pong":
            self.load = frame["load"]
        answer = self._answers.get(frame["id"]) if "id" in frame else None
        if answer is not None:
            answer.put(frame)
        elif frame["kind"] == "pong":
            self._note_free(frame)
        elif "id" in frame and frame["kind"] not in REPORTED:
            return
        elif frame["kind"] not in UNREMARKABLE:
            self._report(Said(self.node, frame))

    def _note_free(self, frame: Frame) -> None:
        """Report how much of the node's disk is free, where that has changed by a fiftieth."""
        free = frame["disk_free"]
        if free is not None and abs(free - self._free) * 50 > self._free:
            self._free = free
            self._report(Said(self.node, frame))

    def _write_orders(self) -> None:
        """Send orders, and pings however many those are; give up a link that says nothing."""
        watched, oversight = self._link, Oversight(time.monotonic())
        while not self._stopping.is_set():
            item = self._next_order(oversight.due(self._heard) - time.monotonic())
            link, now, heard = self._link, time.monotonic(), self._heard
            if link is not watched:
                watched, oversight = link, Oversight(now)
            elif now >= oversight.due(heard):
                self._ping(link, oversight.is_silent(now, heard))
                oversight.ask(now, heard)
            if item is not None and link is not None and item[0] == self._number:
                self._send(link, item[1])
                if item[1]["kind"] == "lease":
                    self._leased = item[0]

    def _next_order(self, timeout: float) -> tuple[int, Frame] | None:
        with suppress(queue.Empty):
            return self._orders.get(timeout=max(0.0, timeout))
        return None

    def _ping(self, link: Link | None, is_silent: bool) -> None:
        """Have a link say something; one that says nothing all the same is no good."""
        if link is None:
            return
        if is_silent:
            self._trouble = f"it does not answer: nothing came for {SILENCE_S:g} s"
            _close(link)
        else:
            self._send(link, PING)
            if self._leased == self._number:
                self._send(link, self.renewal)

    def _send(self, link: Link, frame: Frame) -> None:
        """Send a frame; when half of it may have gone, nothing can follow."""
        try:
            link.send(frame)
        except Exception as error:
            self._trouble = self._trouble or _words(error)
            _close(link)

    def _run_errands(self) -> None:
        """Do errands to the end; those that are left then have not been done."""
        while (item := self._errands.get()) is not None:
            name, errand = item
            link = self._link
            try:
                if link is None or self._stopping.is_set():
                    raise NodeUnreachable(f"`{self.address.name}` is out of contact")
                weight = errand(self, link)
            except Exception as error:  # the transfer is tried again, and the next ones are made
                gone, spoilt = isinstance(error, NotFound), isinstance(error, Spoilt | Garbled)
                self._report(Carried(self.node, name, _words(error), gone, spoilt))
            else:
                self._report(Carried(self.node, name, None, weight=weight))

    def _close(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            _close(link)
        for answer in list(self._answers.values()):
            answer.put(None)


def _close(link: Link) -> None:
    """Close a link, whatever a sick node makes of it."""
    with suppress(Exception):
        link.close()


def _words(error: Exception) -> str:
    """What to say of trouble; of that which nobody expected, what it is, too."""
    if isinstance(error, D0Error | OSError):
        return str(error)
    return f"{type(error).__name__}: {error}"


def launch(courier: Courier, launches: Sequence[Frame]) -> None:
    """Order attempts to be started, a bounded number in a frame."""
    order_many(courier, {"kind": "launch"}, launches, 200)


def order_many(courier: Courier, order: Frame, what: Sequence[Any], most: int = 10_000) -> None:
    """Give an order for many attempts, a bounded number in a frame."""
    for first in range(0, len(what), most):
        courier.order({**order, "attempts": list(what[first : first + most])})
