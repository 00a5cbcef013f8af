"""The only place that ends a binary for what it takes: time, memory, disk, beyond its request."""

import time
from typing import Callable

from d0ctl_wrapper.attempt.intervals import SOONEST, Ease
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.host.process import Usage
from d0ctl_wrapper.host.walk_files import tour
from d0ctl_wrapper.protocol.quantities import size, span

NEAR = 0.8
"""From this part of a limit on a binary is looked at more often."""

GROWTH = 1.05
"""What takes so many times as much as at the last look is looked at soon again."""

THRIFT = 1000.0
"""From one long look to the next it takes so many times as long as the look took."""


BLOCK = 512
"""The bytes of a block, as the status of a file counts them."""


class WallTime:
    """How long the chain may run, time at a standstill not counted."""

    def __init__(self, limit: float, ran: "Callable[[], float]") -> None:
        self._limit = limit
        self._ran = ran

    def look(self) -> float:
        """Raise Failed when the chain has run too long; the seconds until it will have."""
        ran = self._ran()
        if ran >= self._limit:
            detail = "ran for %s, and its wall time is %s" % (span(ran), span(self._limit))
            raise Failed("wall-time", detail)
        return max(SOONEST / 10, self._limit - ran)


class Memory:
    """How much memory all processes of a binary may take together.

    Pages that several of them share count for each in `usage`, which is cheap to have; `exact`
    counts them once, and is asked before the verdict only.
    """

    def __init__(
        self, who: str, limit: int, usage: "Callable[[], Usage]", exact: "Callable[[], int]"
    ) -> None:
        self._who = who
        self._limit = limit
        self._usage = usage
        self._exact = exact
        self._ease = Ease()
        self._last = 0
        self._peak = 0

    def look(self) -> float:
        """Raise Failed when it takes too much; the seconds until the next look."""
        taken = self._usage().rss
        if taken > self._limit:
            taken = min(taken, self._exact())
        self._peak = max(self._peak, taken)
        if taken > self._limit:
            told = (self._who, size(self._peak), size(self._limit))
            raise Failed("out-of-memory", "%s took %s of memory, and asked for %s" % told)
        is_urgent = taken > min(GROWTH * self._last, NEAR * self._limit)
        self._last = taken
        return self._ease.next(is_urgent)


class Disk:
    """How much disk the files of an attempt may take together."""

    def __init__(
        self, limit: "int | None", scratch: "int | None", folder: bytes,
        remark: "Callable[[str], None]",
    ) -> None:  # fmt: skip
        """Hold to `limit`; of more than `scratch`, which is an estimate, only tell once."""
        self._limit = limit
        self._scratch = scratch
        self._folder = folder
        self._remark = remark
        self._ease = Ease()
        self._last = 0

    def look(self) -> float:
        """Raise Failed when they take too much; the seconds until the next look."""
        began = time.monotonic()
        taken = sum(status.st_blocks for status in tour(self._folder)) * BLOCK
        if self._limit is not None and taken > self._limit:
            told = (size(taken), size(self._limit))
            raise Failed("disk-full", "its files take %s of disk, and it asked for %s" % told)
        if self._scratch is not None and taken > self._scratch:
            told = (size(taken), size(self._scratch))
            self._remark("its files take %s of disk, and its work-size is %s" % told)
            self._scratch = None
        delay = self._ease.next(taken > GROWTH * self._last)
        self._last = taken
        return max(delay, THRIFT * (time.monotonic() - began))
