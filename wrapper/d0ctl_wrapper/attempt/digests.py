"""Known checksums, so that no file is read twice in an attempt."""

import os
import time
from typing import Callable, Dict, Tuple

from d0ctl_wrapper.protocol.checksum import digest_by
from d0ctl_wrapper.protocol.retained import Stamp

SETTLED_S = 0.1
"""The seconds after which a new change of a file gets another modification time."""


class Digests:
    """Sizes and checksums of files, by their stamps.

    `pause_point` is called before each piece of a file that is read, and may raise to give up.
    """

    def __init__(self, pause_point: "Callable[[], None]") -> None:
        self.pause_point = pause_point
        self._known: "Dict[Stamp, Tuple[int, str]]" = {}

    def of(self, path: bytes) -> "Tuple[int, str]":
        """Return size and checksum of a file."""
        known = self._known.get(_stamp(path)) if self._known else None
        return known if known is not None else self._read(path, None)[1]

    def by(self, path: bytes, asked: str) -> str:
        """Return the checksum of a file by the algorithm of `asked`."""
        return self._read(path, asked)[0]

    def _read(self, path: bytes, asked: "str | None") -> "Tuple[str, Tuple[int, str]]":
        before = _stamp(path)
        checked, checksum = digest_by(path, asked, self.pause_point)
        after = _stamp(path)
        found = after[2], checksum
        if before == after and time.time() - after[3] / 1e9 > SETTLED_S:
            self._known[after] = found
        return checked, found


def _stamp(path: bytes) -> Stamp:
    status = os.stat(path)
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
