"""Helpers: forked processes that do the long work of a relay."""

import collections
import os
import signal
from typing import Any, Callable, Deque, Dict, List, Set, Tuple

from d0ctl_wrapper.host import process
from d0ctl_wrapper.protocol.checks import shape
from d0ctl_wrapper.relay.loop import Loop

Frame = Dict[str, Any]
Work = Callable[[], List[Frame]]

AT_ONCE = 2
"""The most helpers at the same time."""


class Helpers:
    """The helpers and the work that waits for them; each returns frames to send."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._stream = loop.stream
        self._waiting: "Deque[Tuple[Work, Frame | None]]" = collections.deque()
        self._answers: "Dict[int, Tuple[List[bytes], Frame | None]]" = {}
        self.children: "Set[int]" = set()

    def submit(self, work: Work, failed: "Frame | None") -> None:
        """Do `work` in a helper and send its frames; send `failed` if the helper dies.

        Without `failed` nobody waits for an answer.
        """
        self._waiting.append((work, failed))
        self._fill()

    def _fill(self) -> None:
        while self._waiting and len(self._answers) < AT_ONCE:
            self._fork(*self._waiting.popleft())

    def _fork(self, work: Work, failed: "Frame | None") -> None:
        reader, writer = os.pipe()
        relay = os.getpid()
        pid = os.fork()
        if pid == 0:
            _work(work, writer, relay)
        os.close(writer)
        self.children.add(pid)
        self._answers[reader] = [], failed
        self._loop.watch(reader, lambda: self._receive(reader))

    def _receive(self, descriptor: int) -> None:
        """Read from a helper; at its end send its frames."""
        data = os.read(descriptor, 65536)
        if data:
            self._answers[descriptor][0].append(data)
            return
        self._loop.unwatch(descriptor)
        os.close(descriptor)
        pieces, failed = self._answers.pop(descriptor)
        text = b"".join(pieces)
        if not text.endswith(b"\n"):
            text = b"" if failed is None else shape.encode(failed).encode("ascii")
        for line in text.splitlines():
            self._stream.send_line(line.decode("ascii"))
        self._fill()

    def ended(self, pid: int) -> None:
        """Note that a child process has ended."""
        self.children.discard(pid)


def _work(work: Work, writer: int, relay: int) -> None:
    """Do the work of a helper, which dies with its relay; never returns."""
    try:
        process.die_with_parent(relay)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        text = "".join(shape.encode(frame) + "\n" for frame in work())
        with open(writer, "wb") as file:
            file.write(text.encode("ascii"))
    finally:
        os._exit(0)
