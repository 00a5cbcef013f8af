"""Remembers the checksums of files, so that no file is read twice in an attempt."""

import os
import time
from typing import Callable, Dict, Tuple

from d0ctl_wrapper.protocol.checksum import digest_by
from d0ctl_wrapper.protocol.retained import Stamp

SETTLED = 0.1
"""A file that changed so few seconds ago might change again without a sign of it."""


class Digests:
    """Sizes and checksums by what files look like from outside.

    `heed` is called before each piece of a file that is read, and may raise to give up.
    """

    def __init__(self, heed: "Callable[[], None]") -> None:
        self.heed = heed
        self._known: "Dict[Stamp, Tuple[int, str]]" = {}

    def of(self, path: bytes) -> "Tuple[int, str]":
        """Give size and checksum of a file, whose bytes are then on the disk."""
        known = self._known.get(_stamp(path))
        return known if known is not None else self._read(path, None)[1]

    def by(self, path: bytes, asked: str) -> str:
        """Give the checksum of a file by the algorithm of `asked`."""
        return self._read(path, asked)[0]

    def _read(self, path: bytes, asked: "str | None") -> "Tuple[str, Tuple[int, str]]":
        before = _stamp(path)
        checked, checksum = digest_by(path, asked, self.heed)
        after = _stamp(path)
        found = after[2], checksum
        if before == after and time.time() - after[3] / 1e9 > SETTLED:
            self._known[after] = found
        return checked, found


def _stamp(path: bytes) -> Stamp:
    status = os.stat(path)
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
