"""The frames that a node sends: messages for the drop-box, answers, and reports for the loop."""

import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from d0ctl.nodes.courier_reports import Received, Report
from d0ctl.nodes.frame_checks import Pieces
from d0ctl.nodes.link import Frame, Link

REST_S = 0.02
"""The shortest time between two deliveries: messages that arrive meanwhile share a file.

The loop makes it longer while nothing waits for them.
"""

MOST_UNREAD = 8
"""The most unread files of messages from a node; beyond that, no more are accepted."""

UNREPORTED = frozenset({"messages", "accepted", "already"})
"""Kinds of frames that the loop does not have to act on."""

REPORTED_ANSWERS = frozenset({"software", "status", "surveyed", "hashed"})
"""Kinds of answers that no thread waits for: the loop acts on them."""

Deliver: TypeAlias = Callable[[str, Sequence[str]], None]
"""Stores messages of a node, and returns when they are safe on disk."""


class FrameReceiver:
    """Hands over the frames of one node, in the thread that reads its link."""

    def __init__(
        self,
        node: int,
        name: str,
        *,
        answers: Mapping[str, queue.SimpleQueue[Frame | None]],
        stopping: threading.Event,
        deliver: Deliver,
        unread: Callable[[str], int],
        report: Callable[[Report], None],
    ) -> None:
        self.node = node
        self.name = name
        self.rest_s = 0.0
        """The time between two deliveries, if it should be longer than REST_S."""
        self.load: float | None = None
        """The last load that the node has reported."""
        self.last_heard = 0.0
        self._answers, self._stopping = answers, stopping
        self._deliver, self._unread, self._report = deliver, unread, report
        self._pieces = Pieces()
        self._disk_free = 0

    def begin(self) -> None:
        """Begin with a new link."""
        self.last_heard = time.monotonic()
        self._pieces = Pieces()
        self._disk_free = 0
        self.load = None

    def receive(self, link: Link, frames: Sequence[Frame]) -> None:
        """Deliver the messages among frames that arrived together, and pass on the others."""
        self.last_heard = time.monotonic()
        messages = [frame for frame in frames if frame["kind"] == "messages"]
        for frame in messages:
            # before the messages: when a package has ended, the space of its outputs is taken
            self._note_disk_free(frame["disk_free"])
        self._deliver_messages(link, messages)
        for frame in frames:
            self._pass_on(frame)

    def _deliver_messages(self, link: Link, frames: Sequence[Frame]) -> None:
        """Deliver messages, those that arrived together as one file, and then acknowledge them.

        The node deletes acknowledged messages, so they must be safe on disk here first.
        """
        files = [file for frame in frames for file in frame["files"] if self._pieces.complete(file)]
        if files:
            self._wait_for_loop()
            self._deliver(self.name, [file["text"] for file in files])
            link.send({"kind": "ack", "names": [file["name"] for file in files]})
            self._stopping.wait(max(REST_S, self.rest_s))

    def _wait_for_loop(self) -> None:
        """Wait while the loop is behind: meanwhile messages stay on the node."""
        while self._unread(self.name) >= MOST_UNREAD and not self._stopping.is_set():
            self._stopping.wait(REST_S)
            self.last_heard = time.monotonic()

    def _pass_on(self, frame: Frame) -> None:
        """Give a frame to the thread that waits for it, or report it."""
        kind = frame["kind"]
        if kind == "pong":
            self.load = frame["load"]
        answer = self._answers.get(frame["id"]) if "id" in frame else None
        if answer is not None:
            answer.put(frame)
        elif kind == "pong":
            self._note_disk_free(frame["disk_free"])
        elif "id" in frame and kind not in REPORTED_ANSWERS:
            return
        elif kind not in UNREPORTED:
            self._report(Received(self.node, frame))

    def _note_disk_free(self, free: int | None) -> None:
        """Report the free space of the node's disk if it has changed by two percent."""
        if free is not None and abs(free - self._disk_free) * 50 > self._disk_free:
            self._disk_free = free
            self._report(Received(self.node, {"kind": "pong", "disk_free": free}))
