"""The stream of frames between the control host and its relay."""

import collections
import os
import select
import time
from typing import Any, Deque, Dict, Iterable, Iterator, List

from d0ctl_wrapper.protocol.checks import json_text

Frame = Dict[str, Any]

CHUNK = 1024 * 1024
"""Bytes written at once."""

READ = 64 * 1024
"""Bytes read at once; for more than 128 KiB the C library asks the system for memory each time."""

LONGEST = 8 * 1024 * 1024
"""The most bytes of a frame; longer ones are sent in pieces."""

SPLIT_AT = 4 * 1024 * 1024
"""The bytes after which a frame with a list ends and the next one begins."""

LISTED = 10000
"""The most attempts listed in one frame, and the most attempts with a cache in a hello."""

FULL = 8 * 1024 * 1024
"""If the control host has this many bytes to read, the relay obeys no new frame."""


class Stream:
    """Frames in and out over two descriptors, neither of which ever blocks."""

    def __init__(self, source: int, sink: int) -> None:
        self.source = source
        self.sink = sink
        self.backlog = 0
        self.is_closed = False
        self._partial: "List[bytes]" = []
        self._partial_size = 0
        self._out: "Deque[memoryview]" = collections.deque()
        os.set_blocking(source, False)
        os.set_blocking(sink, False)

    @property
    def is_full(self) -> bool:
        """Whether the control host is far behind with reading."""
        return self.backlog >= FULL

    def receive(self) -> "List[bytes]":
        """Read the available bytes, and return the lines that are complete now."""
        try:
            data = os.read(self.source, READ)
        except BlockingIOError:
            return []
        except OSError:
            data = b""
        self.is_closed = self.is_closed or not data
        head, end, rest = data.rpartition(b"\n")
        if not end:
            self._hold(rest)
            return []
        lines = b"".join([*self._partial, head]).split(b"\n")
        self._partial, self._partial_size = [], 0
        self._hold(rest)
        return lines

    def send_list(self, frame: Frame, field: str, items: "Iterable[Any]", most: int) -> None:
        """Queue a frame with a list, or several, as `in_parts` makes them."""
        for piece in in_parts(frame, field, items, most):
            self.send(piece)

    def send(self, frame: Frame) -> None:
        """Queue one frame; `flush` writes it."""
        self.send_line(json_text.encode(frame))

    def send_line(self, line: str) -> None:
        """Queue one line; `flush` writes it."""
        data = line.encode("ascii") + b"\n"
        self._out.append(memoryview(data))
        self.backlog += len(data)

    def flush(self) -> None:
        """Write as much as the other side accepts now."""
        while self._out and not self.is_closed:
            data = b"".join(self._out) if self.backlog <= CHUNK else self._out[0]
            try:
                written = os.write(self.sink, data)
            except BlockingIOError:
                return
            except OSError:
                self.is_closed = True
                return
            self._drop(written)

    def drain(self, seconds: float) -> None:
        """Write the rest of the queue, for at most `seconds`."""
        until = time.monotonic() + seconds
        poller = select.poll()
        poller.register(self.sink, select.POLLOUT)
        while self._out and not self.is_closed and time.monotonic() < until:
            poller.poll(100)
            self.flush()

    def _drop(self, written: int) -> None:
        self.backlog -= written
        while written:
            first = self._out.popleft()
            if len(first) > written:
                self._out.appendleft(first[written:])
                return
            written -= len(first)

    def _hold(self, data: bytes) -> None:
        if data:
            self._partial.append(data)
            self._partial_size += len(data)
        if self._partial_size > LONGEST:
            self.is_closed = True


def in_parts(frame: Frame, field: str, items: "Iterable[Any]", most: int) -> "Iterator[Frame]":
    """Yield a frame with a list, or several; all but the last have `more`.

    Each has at most `most` items.
    """
    part: "List[Any]" = []
    size = 0
    for item in items:
        length = len(json_text.encode(item))
        if part and (len(part) == most or size + length > SPLIT_AT):
            yield {**frame, field: part, "more": True}
            part, size = [], 0
        part.append(item)
        size += length
    yield {**frame, field: part, "more": False}
