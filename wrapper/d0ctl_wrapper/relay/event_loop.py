"""The event loop of a relay: frames, descriptors, timers."""

import collections
import select
import time
from typing import Callable, Dict, List

from d0ctl_wrapper.protocol.frames import Stream

LONGEST_WAIT_S = 3600.0
"""The most seconds between two turns of the loop."""

ENDED = select.POLLHUP | select.POLLERR | select.POLLNVAL
"""The events of a stream whose other end is gone."""


class Loop:
    """The loop over a stream and other descriptors."""

    def __init__(self, stream: Stream, silence: float) -> None:
        self.stream = stream
        self.is_done = False
        self._silence = silence
        self._received_at = time.monotonic()
        self._calls: "Dict[int, Callable[[], object]]" = {}
        self._streams = (stream.source, stream.sink)
        self._poller = select.poll()
        self._poller.register(stream.source, select.POLLIN)
        self._poller.register(stream.sink, 0)

    def watch(self, descriptor: int, call: "Callable[[], object]") -> None:
        """Call `call` whenever the descriptor is readable."""
        self._calls[descriptor] = call
        self._poller.register(descriptor, select.POLLIN)

    def unwatch(self, descriptor: int) -> None:
        """Stop watching a descriptor."""
        del self._calls[descriptor]
        self._poller.unregister(descriptor)

    def serve(
        self, first: "List[bytes]", obey: "Callable[[bytes], None]", work: "Callable[[], float]"
    ) -> None:
        """Call `obey` with each line, until the control host is gone or silent, or `is_done`.

        `work` does the due work and returns the seconds until there is more.
        """
        lines = collections.deque(first)
        while not self.is_done:
            while lines and not self.stream.is_full:
                obey(lines.popleft())
            delay = work()
            self.stream.flush()
            has_more = lines and not self.stream.is_full
            lines.extend(
                self._wait(0.0 if has_more else min(delay, self._silence_left(), LONGEST_WAIT_S))
            )
        self.stream.drain(1.0)

    def _silence_left(self) -> float:
        return self._received_at + self._silence - time.monotonic()

    def _wait(self, seconds: float) -> "List[bytes]":
        """Sleep until something happens, and return the lines that arrived."""
        self._poller.modify(self.stream.source, 0 if self.stream.is_full else select.POLLIN)
        self._poller.modify(self.stream.sink, select.POLLOUT if self.stream.backlog else 0)
        lines: "List[bytes]" = []
        for descriptor, event in self._poller.poll(max(0.0, seconds) * 1000):
            if descriptor in self._calls:
                self._calls[descriptor]()
            elif descriptor == self.stream.source and event & select.POLLIN:
                self._received_at = time.monotonic()
                lines = self.stream.receive()
            elif descriptor in self._streams and event & ENDED:
                self.is_done = True
        self.is_done = self.is_done or self.stream.is_closed or self._silence_left() <= 0
        return lines
