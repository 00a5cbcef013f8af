"""A node's courier: holds the link to its relay, carries messages, orders and files.

It has three threads: one reaches the node and reads its frames, one writes orders and pings, one
transfers files. So a slow node delays no other, and a large file delays no order. The threads touch
no database; they report to the loop.
"""

import queue
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from d0ctl.errors import NodeUnreachable
from d0ctl.model import ALL_PROCESSORS, Processors
from d0ctl.nodes.courier_reports import (
    FileFacts,
    NodeDown,
    NodeUp,
    Report,
    TransferEnded,
    error_text,
    failed,
)
from d0ctl.nodes.frame_receiver import Deliver, FrameReceiver
from d0ctl.nodes.health_check import SILENCE_S, HealthCheck
from d0ctl.nodes.link import Frame, Link, Site, open_link
from d0ctl.nodes.transports.transport import Address

FIRST_WAIT_S = 1.0
LONGEST_WAIT_S = 60.0
"""The longest wait before an unreachable node is tried again; the wait doubles up to this."""

STOP_S = 1.0
"""How long `stop` waits for the threads of a courier."""

LAUNCHES_A_FRAME, ATTEMPTS_A_FRAME = 200, 10_000

PING: Frame = {"kind": "ping", "id": "ping"}

TransferWork: TypeAlias = Callable[["Courier", Link], FileFacts]
"""Transfers a file over an open link."""


class Courier:
    """The courier of one node, from `start` to `stop`."""

    def __init__(
        self,
        node: int,
        address: Address,
        site: Site,
        *,
        processors: Processors = ALL_PROCESSORS,
        deliver: Deliver,
        unread: Callable[[str], int] = lambda node: 0,
        report: Callable[[Report], None],
    ) -> None:
        self.node = node
        self.address = address
        self.site = site
        self.processors = processors
        self._report = report
        self._stopping = threading.Event()
        self._waking = threading.Event()
        self._left_at = 0.0
        self._orders: queue.SimpleQueue[tuple[int, Frame] | None] = queue.SimpleQueue()
        self._transfers: queue.SimpleQueue[tuple[Any, TransferWork] | None] = queue.SimpleQueue()
        self._answers: dict[str, queue.SimpleQueue[Frame | None]] = {}
        self.receiver = FrameReceiver(
            node, address.name, answers=self._answers, stopping=self._stopping, deliver=deliver,
            unread=unread, report=report,
        )  # fmt: skip
        # Links are numbered. An order carries the number of the link that was accepted when it
        # was given, and is sent over that link or not at all: the loop decided by the list of that
        # relay, and the reconciliation on the next link finds whatever was lost.
        self._link: Link | None = None
        self._number = 0
        self._accepted = 0
        self._leased = 0
        self._wait_s = FIRST_WAIT_S
        self._error = ""
        self._threads = [
            threading.Thread(target=work, name=f"{address.name} {work.__name__}", daemon=True)
            for work in (self._keep_link, self._write_orders, self._run_transfers)
        ]

    def start(self) -> None:
        """Start connecting to the node."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Disconnect from the node; its relay ends, its wrappers continue."""
        self.leave()
        deadline = self._left_at + STOP_S
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def leave(self) -> None:
        """Start to disconnect without waiting: a sick node answers late or never."""
        if self._stopping.is_set():
            return
        self._left_at = time.monotonic()
        self._stopping.set()
        self._waking.set()
        self._orders.put(None)
        self._transfers.put(None)
        threading.Thread(target=self._close, name=f"{self.address.name} leave", daemon=True).start()

    @property
    def is_up(self) -> bool:
        """Whether there is a link, and the loop has processed the list of its relay."""
        return self._link is not None and self._number == self._accepted

    @property
    def has_standing_end(self) -> bool:
        """Whether an end of a stream waits on the node for its next order."""
        link = self._link
        return link is not None and bool(link.idle)

    @property
    def lease_frame(self) -> Frame:
        """The frame that renews the lease of all attempts on the node.

        The first one on a link is sent after all kills; from then on one follows each ping.
        """
        return {"kind": "lease", "seconds": self.site.lease}

    @property
    def silence_s(self) -> float:
        """How long the node has sent nothing."""
        return time.monotonic() - self.receiver.last_heard

    def accept(self, link: int) -> None:
        """Send orders over this link from now on: its `NodeUp` was processed.

        No orders may be sent before. An attempt launched between a relay's list and the
        reading of that list would be missing in it, and would count as lost.
        """
        self._accepted = link
        self._wait_s = FIRST_WAIT_S

    def hang_up(self, error: str) -> None:
        """Close a useless link without waiting, and try again later."""
        self._error = error
        threading.Thread(target=self._close, name=f"{self.address.name} close", daemon=True).start()

    def try_now(self) -> None:
        """Try to reach the node at once, if it waits for its next try."""
        self._wait_s = FIRST_WAIT_S
        self._waking.set()

    def order(self, frame: Frame) -> None:
        """Send a frame over the accepted link; it is lost if that breaks."""
        self._orders.put((self._accepted, frame))

    @property
    def known_hosts(self) -> Path:
        """The host keys that were accepted."""
        return self.site.known_hosts

    def open_link(self) -> Link:
        """Return the link, for work in other threads. Raises NodeUnreachable without one."""
        link = self._link
        if link is None or self._stopping.is_set():
            raise NodeUnreachable(f"`{self.address.name}` is out of contact")
        return link

    def transfer(self, name: Any, work: TransferWork) -> None:
        """Transfer a file; its end is reported as `TransferEnded` under this name."""
        self._transfers.put((name, work))

    def ask(self, link: Link, frame: Frame, timeout_s: float) -> Frame:
        """Send a frame that has an `id` and wait for its answer. Raises NodeUnreachable."""
        answer: queue.SimpleQueue[Frame | None] = queue.SimpleQueue()
        self._answers[frame["id"]] = answer
        try:
            link.send(frame)
            reply = answer.get(timeout=timeout_s)
        except queue.Empty as error:
            raise NodeUnreachable(f"`{self.address.name}` did not answer in time") from error
        finally:
            self._answers.pop(frame["id"], None)
        if reply is None:
            raise NodeUnreachable(f"the link to `{self.address.name}` broke")
        return reply

    def _keep_link(self) -> None:
        """Reach the node, read its frames until the link breaks, and again."""
        while not self._stopping.is_set():
            self._error, error = "", "the relay ended"
            try:
                self._read(open_link(self.address, self.site, processors=self.processors))
            except Exception as failure:  # a node may send anything, and its courier survives
                error = error_text(failure)
            self._close()
            self._waking.clear()
            if self._stopping.is_set():
                return
            wait_s, self._wait_s = self._wait_s, min(LONGEST_WAIT_S, self._wait_s * 2)
            # the cause, if another thread closed the link, not the error here
            self._report(NodeDown(self.node, self._error or error, wait_s))
            self._waking.wait(wait_s)

    def _read(self, link: Link) -> None:
        self.receiver.begin()
        self._number += 1
        self._link = link
        if self._stopping.is_set():
            return
        self._report(NodeUp(self.node, link.facts, link.attempts, self._number, link.cached))
        link.attempts = {}
        for frames in link.batches():
            self.receiver.receive(link, frames)

    def _write_orders(self) -> None:
        """Send orders, and pings even if there are many orders; close a link that stays silent."""
        watched, check = self._link, HealthCheck(time.monotonic())
        while not self._stopping.is_set():
            item = self._next_order(check.due(self.receiver.last_heard) - time.monotonic())
            link, now, last_heard = self._link, time.monotonic(), self.receiver.last_heard
            if link is not watched:
                watched, check = link, HealthCheck(now)
            elif now >= check.due(last_heard):
                self._ping(link, check.is_silent(now, last_heard))
                check.ask(now, last_heard)
            if item is not None and link is not None and item[0] == self._number:
                self._send(link, item[1])
                if item[1]["kind"] == "lease":
                    self._leased = item[0]

    def _next_order(self, timeout_s: float) -> tuple[int, Frame] | None:
        with suppress(queue.Empty):
            return self._orders.get(timeout=max(0.0, timeout_s))
        return None

    def _ping(self, link: Link | None, is_silent: bool) -> None:
        """Ask a link for an answer and renew the lease; close it if it has been silent too long."""
        if link is None:
            return
        if is_silent:
            self._error = f"it does not answer: nothing came for {SILENCE_S:g} s"
            _close(link)
        else:
            self._send(link, PING)
            if self._leased == self._number:
                self._send(link, self.lease_frame)

    def _send(self, link: Link, frame: Frame) -> None:
        """Send a frame; if it fails, half of it may have been sent, and nothing can follow."""
        try:
            link.send(frame)
        except Exception as error:
            self._error = self._error or error_text(error)
            _close(link)

    def _run_transfers(self) -> None:
        """Run transfers until `leave`; those still queued then are not made."""
        while (item := self._transfers.get()) is not None:
            name, work = item
            began = time.monotonic()
            try:
                facts = work(self, self.open_link())
            except Exception as error:  # the transfer is tried again, and the next ones are made
                self._report(failed(self.node, name, error))
            else:
                took_s = time.monotonic() - began
                self._report(TransferEnded(self.node, name, None, facts=facts, took_s=took_s))

    def _close(self) -> None:
        """Close the link, and wake those who wait for an answer over it."""
        link, self._link = self._link, None
        if link is not None:
            _close(link)
        for answer in list(self._answers.values()):
            answer.put(None)


def _close(link: Link) -> None:
    """Close a link, whatever errors a sick node causes."""
    with suppress(Exception):
        link.close()


def launch(courier: Courier, launches: Sequence[Frame]) -> None:
    """Order the start of attempts, a limited number per frame."""
    order_many(courier, {"kind": "launch"}, launches, LAUNCHES_A_FRAME)


def order_many(
    courier: Courier, order: Frame, attempts: Sequence[Any], most: int = ATTEMPTS_A_FRAME
) -> None:
    """Send an order for many attempts, a limited number per frame."""
    for first in range(0, len(attempts), most):
        courier.order({**order, "attempts": list(attempts[first : first + most])})
