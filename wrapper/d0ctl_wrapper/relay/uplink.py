"""The uplink: messages from the spool to the control host."""

import time
from typing import Any, Collection, Dict, List, Set

from d0ctl_wrapper.host import spool
from d0ctl_wrapper.protocol.frames import Stream
from d0ctl_wrapper.protocol.paths import NodePaths
from d0ctl_wrapper.relay import facts

BATCH = 1024 * 1024
"""The most characters of messages in one frame; a longer file is sent in pieces.

A character takes at most 6 bytes in a frame.
"""

REST_FACTOR = 10.0
"""The pause after a read of the spool, as a multiple of its duration."""


SEND_EVERY_S = 0.02
"""The least seconds from one frame with messages of wrappers to the next.

The control host stores messages as often, so earlier frames would only wait there.
"""


class Uplink:
    """The unacknowledged messages; each is sent once per connection."""

    def __init__(self, paths: NodePaths, stream: Stream) -> None:
        self._paths = paths
        self._stream = stream
        self._sent: "Set[bytes]" = set()
        self._is_requested = paths.has_own_spool
        self._reported: "List[Dict[str, Any]]" = []
        self._next_collect_at = 0.0
        self._next_send_at = 0.0

    def sweep(self, running: "Collection[int]") -> None:
        """Remove half-written files from the relay's own spool."""
        if self._paths.has_own_spool:
            spool.sweep(self._paths, running)

    def request_collect(self) -> None:
        """Record that there may be new messages."""
        self._is_requested = self._paths.has_own_spool

    def add(self, name: bytes, text: bytes) -> None:
        """Add a message of a wrapper, with its text unless that is long."""
        if not (text and self._paths.has_own_spool) or self._stream.is_full:
            self.request_collect()
        elif name not in self._sent:
            self._sent.add(name)
            self._reported.append({"name": name.decode("ascii"), "text": text.decode("ascii")})

    def send_reported(self) -> None:
        """Send the messages that wrappers have reported, at most once per SEND_EVERY_S."""
        if self._reported and self._send_delay() == 0.0:
            self._send_all_reported()
            self._next_send_at = time.monotonic() + SEND_EVERY_S

    def _send_delay(self) -> float:
        return max(0.0, self._next_send_at - time.monotonic())

    def _send_all_reported(self) -> None:
        while self._reported:
            size = taken = 0
            for file in self._reported:
                size += len(file["text"])
                if size > BATCH and taken:
                    break
                taken += 1
            self._send_frame(self._reported[:taken])
            del self._reported[:taken]

    def delay(self) -> "float | None":
        """Return the seconds until messages should be sent; None if there are none."""
        delays = [self._collect_delay(), self._send_delay() if self._reported else None]
        return min((delay for delay in delays if delay is not None), default=None)

    def _collect_delay(self) -> "float | None":
        if not self._is_requested or self._stream.is_full:
            return None
        return max(0.0, self._next_collect_at - time.monotonic())

    def collect(self) -> None:
        """Send new messages, as long as the control host reads them."""
        if self._collect_delay() != 0.0:
            return
        started = time.monotonic()
        names = [name for name in spool.waiting(self._paths) if name not in self._sent]
        while names and not self._stream.is_full:
            self._send(names)
        self._is_requested = bool(names)
        now = time.monotonic()
        self._next_collect_at = now + REST_FACTOR * (now - started)

    def _send(self, names: "List[bytes]") -> None:
        """Send the first messages of `names` that fit into one frame, and remove their names."""
        files: "List[Dict[str, Any]]" = []
        size = taken = 0
        for name in names:
            text = spool.read(self._paths, name)
            size += len(text or "")
            if size > BATCH and taken:
                break
            taken += 1
            if text is not None:
                files.append({"name": name.decode("ascii"), "text": text})
        self._sent.update(names[:taken])
        del names[:taken]
        if size > BATCH and len(files) == 1:
            self._send_in_pieces(**files[0])
        elif files:
            self._send_frame(files)

    def _send_in_pieces(self, name: str, text: str) -> None:
        """Send a long file in several frames; the last has no `more`."""
        for begin in range(0, len(text), BATCH):
            file = {"name": name, "text": text[begin : begin + BATCH]}
            more = {"more": True} if begin + BATCH < len(text) else {}
            self._send_frame([{**file, **more}])

    def _send_frame(self, files: "List[Dict[str, Any]]") -> None:
        """Send messages with the free space of the disk, which outputs may have filled."""
        free = facts.free(self._paths.base)
        self._stream.send({"kind": "messages", "files": files, "disk_free": free})

    def acknowledge(self, names: "List[str]") -> None:
        """Delete messages that the control host has stored."""
        for text in names:
            name = text.encode("ascii", "replace")
            if spool.is_name(name):
                spool.delete(self._paths, name)
                self._sent.discard(name)

    def send_again(self, name: bytes) -> None:
        """Send a message again, although it was sent before."""
        self._sent.discard(name)
        self.request_collect()
