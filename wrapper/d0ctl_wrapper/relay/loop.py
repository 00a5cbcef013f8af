"""The only place where a relay waits: for the control host, for its children, for the clock."""

import collections
import select
import time
from typing import Callable, Dict, List

from d0ctl_wrapper.protocol.frames import Stream

LONGEST = 3600.0
"""The loop turns at least once in so many seconds."""


class Loop:
    """One thread's waiting for a stream and for other descriptors."""

    def __init__(self, stream: Stream, silence: float) -> None:
        self.stream = stream
        self.is_done = False
        self._silence = silence
        self._heard = time.monotonic()
        self._calls: "Dict[int, Callable[[], None]]" = {}
        self._poller = select.poll()
        self._poller.register(stream.source, select.POLLIN)
        self._poller.register(stream.sink, 0)

    def watch(self, descriptor: int, call: "Callable[[], None]") -> None:
        """Have `call` called whenever there is something to read."""
        self._calls[descriptor] = call
        self._poller.register(descriptor, select.POLLIN)

    def unwatch(self, descriptor: int) -> None:
        """Wait for a descriptor no more."""
        del self._calls[descriptor]
        self._poller.unregister(descriptor)

    def serve(
        self, first: "List[bytes]", obey: "Callable[[bytes], None]", work: "Callable[[], float]"
    ) -> None:
        """Obey each line, until the control host is gone or silent or `is_done` is set.

        `work` does what is due, and gives the seconds until it wants to be called again.
        """
        lines = collections.deque(first)
        while not self.is_done:
            while lines and not self.stream.is_full:
                obey(lines.popleft())
            delay = work()
            self.stream.flush()
            has_more = lines and not self.stream.is_full
            lines.extend(self._wait(0.0 if has_more else min(delay, self._patience(), LONGEST)))
        self.stream.drain(1.0)

    def _patience(self) -> float:
        return self._heard + self._silence - time.monotonic()

    def _wait(self, seconds: float) -> "List[bytes]":
        """Sleep until something happens, and give the lines that came."""
        self._poller.modify(self.stream.source, 0 if self.stream.is_full else select.POLLIN)
        self._poller.modify(self.stream.sink, select.POLLOUT if self.stream.backlog else 0)
        lines: "List[bytes]" = []
        for descriptor, event in self._poller.poll(max(0.0, seconds) * 1000):
            if descriptor in self._calls:
                self._calls[descriptor]()
            elif descriptor == self.stream.source and event & select.POLLIN:
                self._heard = time.monotonic()
                lines = self.stream.receive()
            elif event & (select.POLLHUP | select.POLLERR | select.POLLNVAL):
                self.is_done = True
        self.is_done = self.is_done or self.stream.is_closed or self._patience() <= 0
        return lines
