"""Helpers: forked processes that do the long work of a relay."""

import collections
import os
import signal
from typing import Any, Callable, Deque, Dict, Iterable, Set, Tuple

from d0ctl_wrapper.host import process
from d0ctl_wrapper.protocol.checks import json_text
from d0ctl_wrapper.relay.event_loop import Loop

Frame = Dict[str, Any]
Work = Callable[[], Iterable[Frame]]

AT_ONCE = 2
"""The most helpers at the same time."""


class _Answer:
    """The output of a helper so far, and the frame to send if it dies."""

    def __init__(self, failed: "Frame | None") -> None:
        self._failed = failed
        self._rest = b""
        self._has_answered = False

    def lines(self, data: bytes) -> "list[bytes]":
        """Return the lines that are complete with this data."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._has_answered = self._has_answered or bool(lines)
        return lines

    def failed(self) -> "Frame | None":
        """Return the frame to send if the helper died in the middle or without an answer."""
        return self._failed if self._rest or not self._has_answered else None


class Helpers:
    """The helpers and the work that waits for them; each returns frames to send."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._stream = loop.stream
        self._waiting: "Deque[Tuple[Work, Frame | None]]" = collections.deque()
        self._answers: "Dict[int, _Answer]" = {}
        self.children: "Set[int]" = set()

    def submit(self, work: Work, failed: "Frame | None") -> None:
        """Do `work` in a helper and send its frames; send `failed` if the helper dies.

        Without `failed` no frame reports its death.
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
        self._answers[reader] = _Answer(failed)
        self._loop.watch(reader, lambda: self._receive(reader))

    def _receive(self, descriptor: int) -> None:
        """Send the frames of a helper as they arrive; at its end check whether it died."""
        data = os.read(descriptor, 65536)
        if data:
            for line in self._answers[descriptor].lines(data):
                self._stream.send_line(line.decode("ascii"))
            return
        self._loop.unwatch(descriptor)
        os.close(descriptor)
        failed = self._answers.pop(descriptor).failed()
        if failed is not None:
            self._stream.send(failed)
        self._fill()

    def ended(self, pid: int) -> None:
        """Record that a child process has ended."""
        self.children.discard(pid)


def _work(work: Work, writer: int, relay: int) -> None:
    """Run `work` in the helper process and exit; the helper is killed if its relay dies."""
    try:
        process.die_with_parent(relay)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with open(writer, "wb") as file:
            for frame in work():
                file.write(json_text.encode(frame).encode("ascii") + b"\n")
    finally:
        os._exit(0)
