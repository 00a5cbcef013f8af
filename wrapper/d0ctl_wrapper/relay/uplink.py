"""The only place where a relay passes messages on from the spool to the control host."""

import time
from typing import Any, Collection, Dict, List, Set

from d0ctl_wrapper.host import spool
from d0ctl_wrapper.protocol.frames import Stream
from d0ctl_wrapper.protocol.paths import NodePaths

BATCH = 1024 * 1024
"""At most so many characters of messages go into one frame; a longer file goes in pieces.

In a frame a character takes 6 bytes at most.
"""

REST = 10.0
"""After looking into the spool, the relay rests this many times as long as that took."""


class Post:
    """The messages on their way; each is sent once a connection until it is acknowledged."""

    def __init__(self, paths: NodePaths, stream: Stream) -> None:
        self._paths = paths
        self._stream = stream
        self._sent: "Set[bytes]" = set()
        self._is_ours = paths.spool == paths.base + b"/spool"
        self._is_wanted = self._is_ours
        self._rests_until = 0.0

    def sweep(self, running: "Collection[int]") -> None:
        """Clear a spool of ours of what was never finished."""
        if self._is_ours:
            spool.sweep(self._paths, running)

    def want(self) -> None:
        """Take note that there may be new messages; a spool elsewhere is none of our business."""
        self._is_wanted = self._is_ours

    def delay(self) -> "float | None":
        """Give the seconds until `collect` should be called; None if there is no reason."""
        if not self._is_wanted or self._stream.is_full:
            return None
        return max(0.0, self._rests_until - time.monotonic())

    def collect(self) -> None:
        """Send what is new, as long as the control host reads it."""
        if self.delay() != 0.0:
            return
        started = time.monotonic()
        names = [name for name in spool.waiting(self._paths) if name not in self._sent]
        while names and not self._stream.is_full:
            self._send(names)
        self._is_wanted = bool(names)
        now = time.monotonic()
        self._rests_until = now + REST * (now - started)

    def _send(self, names: "List[bytes]") -> None:
        """Send the messages of the first of `names` that fit into one frame, and take them off."""
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
            self._stream.send({"kind": "messages", "files": files})

    def _send_in_pieces(self, name: str, text: str) -> None:
        """Send a long file in several frames; it is whole with the first one without `more`."""
        for begin in range(0, len(text), BATCH):
            file = {"name": name, "text": text[begin : begin + BATCH]}
            more = {"more": True} if begin + BATCH < len(text) else {}
            self._stream.send({"kind": "messages", "files": [{**file, **more}]})

    def acknowledge(self, names: "List[str]") -> None:
        """Delete messages that are safe on the control host."""
        for text in names:
            name = text.encode("ascii", "replace")
            if spool.is_name(name):
                spool.delete(self._paths, name)
                self._sent.discard(name)

    def again(self, name: bytes) -> None:
        """Send a message again, although it was sent before."""
        self._sent.discard(name)
        self.want()
