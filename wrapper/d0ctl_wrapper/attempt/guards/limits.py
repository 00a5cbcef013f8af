"""Limits of an attempt: wall time, memory, disk."""

import time
from typing import Callable, Set

from d0ctl_wrapper.attempt.intervals import SOONEST_S, Backoff
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.disk import walk_files
from d0ctl_wrapper.host.process import Usage
from d0ctl_wrapper.protocol.text import sizes_apart, span

NEAR = 0.8
"""The fraction of a limit above which a binary is checked more often."""

GROWTH = 1.05
"""The growth since the last check that causes an early next check."""

THRIFT = 1000.0
"""The least pause between two walks over files, as a multiple of the duration of one."""

BLOCK = 512
"""The bytes of a block in the status of a file."""

PAGE = 4096
"""The bytes in which file systems give space to files."""


class WallTime:
    """The limit of the running time of the chain, without suspended time."""

    def __init__(self, limit: float, ran: "Callable[[], float]") -> None:
        self._limit = limit
        self._ran = ran

    def poll(self) -> float:
        """Raise Failed if the chain has run too long; return the seconds left."""
        ran = self._ran()
        if ran >= self._limit:
            detail = "ran for %s, longer than its wall time of %s" % (span(ran), span(self._limit))
            raise Failed("wall-time", detail)
        return max(SOONEST_S / 10, self._limit - ran)


class Memory:
    """The limit of the memory of all processes of a binary together.

    The cheap `usage` counts shared pages for each process; the slow `exact` counts them once, and
    is called only above the limit.
    """

    def __init__(
        self, who: str, limit: int, usage: "Callable[[], Usage]", exact: "Callable[[], int]"
    ) -> None:
        self._who = who
        self._limit = limit
        self._usage = usage
        self._exact = exact
        self._backoff = Backoff()
        self._last = 0
        self._peak = 0

    def poll(self) -> float:
        """Raise Failed if it takes too much; return the seconds until the next check."""
        taken = self._usage().rss
        if taken > self._limit:
            taken = min(taken, self._exact())
        self._peak = max(self._peak, taken)
        if taken > self._limit:
            numbers = (self._who, *sizes_apart(self._peak, self._limit))
            raise Failed(
                "out-of-memory", "%s used %s of memory, more than its request of %s" % numbers
            )
        is_urgent = taken > min(GROWTH * self._last, NEAR * self._limit)
        self._last = taken
        return self._backoff.next(is_urgent)


class Disk:
    """The disk space of all files of an attempt together: its limit and its peak."""

    def __init__(
        self, limit: "int | None", scratch: "int | None", folder: bytes,
        remark: "Callable[[str], None]", linked: "Callable[[], Set[int]]",
    ) -> None:  # fmt: skip
        """Enforce `limit`; add a remark once if `scratch`, an estimate, is exceeded.

        `linked` returns the inodes of inputs, which are in the cache and do not count.
        """
        self._limit = limit
        self._scratch = scratch
        self._folder = folder
        self._remark = remark
        self._linked = linked
        self._backoff = Backoff()
        self._last = 0
        self._peak_of_own = 0

    def peak_of_own(self) -> int:
        """Return the peak so far, including the present use, of files that exist nowhere else."""
        self._walk()
        return self._peak_of_own

    def _walk(self) -> int:
        """Return the disk space of all files but inputs that are links to copies in the cache."""
        total = own = 0
        inputs = self._linked()
        for status in walk_files(self._folder):
            # without the space that a log keeps beyond its end, which is free again afterwards
            blocks = min(status.st_blocks, -(-status.st_size // PAGE) * (PAGE // BLOCK))
            if status.st_nlink == 1:
                own += blocks
            elif status.st_ino in inputs:
                continue
            total += blocks
        self._peak_of_own = max(self._peak_of_own, own * BLOCK)
        return total * BLOCK

    def poll(self) -> float:
        """Raise Failed if they take too much; return the seconds until the next check."""
        began = time.monotonic()
        taken = self._walk()
        if self._limit is not None and taken > self._limit:
            sizes = sizes_apart(taken, self._limit)
            raise Failed(
                "disk-full", "its files take %s of disk, more than its request of %s" % sizes
            )
        if self._scratch is not None and taken > self._scratch:
            sizes = sizes_apart(taken, self._scratch)
            self._remark("its files take %s of disk, more than its work-size of %s" % sizes)
            self._scratch = None
        delay = self._backoff.next(taken > GROWTH * self._last)
        self._last = taken
        return max(delay, THRIFT * (time.monotonic() - began))
