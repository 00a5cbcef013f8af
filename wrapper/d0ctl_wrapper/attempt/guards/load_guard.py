"""The only place where an attempt gives way to others on its node: to their work, or for memory.

InGrid, points 5 and 6 of the package wrapper. One attempt of a node gives way at a time; it goes
on when there is something left for it.
"""

import os
import time
from typing import Callable, NamedTuple, Optional

from d0ctl_wrapper.attempt.guards.rotation import Turn
from d0ctl_wrapper.attempt.intervals import LONGEST
from d0ctl_wrapper.attempt.run.suspend import Suspension
from d0ctl_wrapper.host import kernel
from d0ctl_wrapper.protocol.launch import PAUSE, WINDOW
from d0ctl_wrapper.protocol.quantities import share, size

IDLE = 0.05
"""With less than this part of the processors idle, the node is busy."""


class Pace(NamedTuple):
    """How long the node is watched for a verdict, and a binary has to pause by itself."""

    window: float = WINDOW
    grace: float = PAUSE


class Verdict(NamedTuple):
    """Whether to stand still, None for whichever it is now, and what convinced us."""

    stands: "Optional[bool]"
    evidence: str


Judge = Callable[[], "Verdict | None"]
"""Looks at the node; None while it is too soon to tell."""


class Yield:
    """The giving way of one binary for one cause."""

    def __init__(
        self, cause: str, judge: Judge, suspension: Suspension, turn: Turn, pace: Pace
    ) -> None:
        self._cause = cause
        self._pace = pace
        self._judge = judge
        self._suspension = suspension
        self._turn = turn
        self._stands = False

    def look(self) -> float:
        """Stand still or go on, if that is the verdict; the seconds until the next look."""
        verdict = self._judge()
        if verdict is None:
            return self._suspension.proceed() or self._pace.window
        if verdict.stands not in (None, self._stands) and self._turn.take():
            self._stands = not self._stands
            if self._stands:
                self._suspension.want(self._cause, verdict.evidence, self._pace.grace)
            else:
                self._suspension.release(self._cause, verdict.evidence)
        return self._suspension.proceed() or (self._pace.window if self._stands else LONGEST)


class ForeignWork:
    """Judges by what the processors do for others, who are not niced as binaries are."""

    def __init__(
        self, most: float, cpus: int, window: float = WINDOW, stat: bytes = kernel.STAT
    ) -> None:
        self._most = most
        self._window = window
        self._needs = min(0.9, cpus / float(os.sysconf("SC_NPROCESSORS_ONLN")))
        self._stat = stat
        self._at = time.monotonic()
        self._before = kernel.processors(stat)

    def __call__(self) -> "Verdict | None":
        """Give way when others take more than `most` and nothing is idle."""
        now = kernel.processors(self._stat)
        if now is None or self._before is None or time.monotonic() - self._at < self._window:
            return None
        ticks = max(1, now.total - self._before.total)
        foreign = (now.plain - self._before.plain) / float(ticks)
        idle = (now.idle - self._before.idle) / float(ticks)
        self._at, self._before = time.monotonic(), now
        told = "others take %s of the processors, %s are idle" % (share(foreign), share(idle))
        if foreign > self._most and idle < IDLE:
            return Verdict(True, told)
        is_over = idle >= self._needs or foreign < self._most / 2
        return Verdict(False if is_over else None, told)


class Thrashing:
    """Judges by what the node swaps, in and out."""

    def __init__(self, most: float, window: float = WINDOW, vmstat: bytes = kernel.VMSTAT) -> None:
        self._most = most
        self._window = window
        self._vmstat = vmstat
        self._at = time.monotonic()
        self._before = kernel.memory(vmstat)

    def __call__(self) -> "Verdict | None":
        """Give way when more bytes a second than `most` are swapped in, and as many out."""
        now = kernel.memory(self._vmstat)
        passed = time.monotonic() - self._at
        if now is None or self._before is None or passed < self._window:
            return None
        came = (now.swapped_in - self._before.swapped_in) / passed
        went = (now.swapped_out - self._before.swapped_out) / passed
        self._at, self._before = time.monotonic(), now
        told = "the node swaps %s/s in and %s/s out" % (size(came), size(went))
        if min(came, went) > self._most:
            return Verdict(True, told)
        return Verdict(False if came + went < self._most / 2 else None, told)
