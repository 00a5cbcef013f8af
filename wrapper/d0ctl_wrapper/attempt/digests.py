"""The only place that remembers checksums of files, so that none is read twice in an attempt."""

import os
import time
from typing import Callable, Dict, Tuple

from d0ctl_wrapper.attempt import answer
from d0ctl_wrapper.disk import digest
from d0ctl_wrapper.kept import Stamp

SETTLED = 0.1
"""A file that changed so few seconds ago might change again without a sign of it."""


class Digests:
    """Sizes and checksums by what files look like from outside."""

    def __init__(self, give_answer: "Callable[[], None]") -> None:
        self._give_answer = give_answer
        self._known: "Dict[Stamp, Tuple[int, str]]" = {}

    def of(self, path: bytes) -> "Tuple[int, str]":
        """Give size and checksum of a file, whose bytes are then on the disk."""
        before = _stamp(path)
        known = self._known.get(before)
        if known is not None:
            return known
        with answer.meanwhile(self._give_answer):
            found = digest(path)
        after = _stamp(path)
        if before == after and time.time() - after[3] / 1e9 > SETTLED:
            self._known[after] = found
        return found


def _stamp(path: bytes) -> Stamp:
    status = os.stat(path)
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns
