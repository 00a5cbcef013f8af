"""The load guard: an attempt pauses while its node is busy with other work, or swaps.

InGrid, points 5 and 6 of the package wrapper. One attempt of a node pauses or resumes at a time.
"""

import os
import time
from typing import Callable, NamedTuple, Optional

from d0ctl_wrapper.attempt.guards.rotation import Rotation
from d0ctl_wrapper.attempt.intervals import LONGEST_S
from d0ctl_wrapper.attempt.run.suspend import Suspension
from d0ctl_wrapper.host import kernel
from d0ctl_wrapper.protocol.text import share, size

IDLE = 0.05
"""The idle fraction of the CPUs below which a node is busy."""


class Timing(NamedTuple):
    """The seconds of a measurement, and those that a binary has to pause by itself."""

    window_s: float
    grace_s: float


class Verdict(NamedTuple):
    """Whether to pause, None for no change, and the evidence."""

    pauses: "Optional[bool]"
    evidence: str


Judge = Callable[[], "Verdict | None"]
"""Measure the node; return None while it is too early for a verdict."""


class LoadGuard:
    """The guard over one binary for one cause."""

    def __init__(
        self, cause: str, judge: Judge, suspension: Suspension, rotation: Rotation, timing: Timing
    ) -> None:
        self._cause = cause
        self._timing = timing
        self._judge = judge
        self._suspension = suspension
        self._rotation = rotation
        self._is_paused = False

    def poll(self) -> float:
        """Pause or resume according to the verdict; return the seconds until the next check."""
        verdict = self._judge()
        if verdict is None:
            return self._suspension.proceed() or self._timing.window_s
        if verdict.pauses not in (None, self._is_paused) and self._rotation.take():
            self._is_paused = not self._is_paused
            if self._is_paused:
                self._suspension.want(self._cause, verdict.evidence, self._timing.grace_s)
            else:
                self._suspension.release(self._cause, verdict.evidence)
        return self._suspension.proceed() or (
            self._timing.window_s if self._is_paused else LONGEST_S
        )


class ForeignWork:
    """The verdict on the CPU time of other programs, which are not niced as binaries are."""

    def __init__(self, most: float, cpus: int, window_s: float, stat: bytes = kernel.STAT) -> None:
        self._most = most
        self._window_s = window_s
        self._needs = min(0.9, cpus / float(os.sysconf("SC_NPROCESSORS_ONLN")))
        self._stat = stat
        self._at = time.monotonic()
        self._before = kernel.processors(stat)

    def __call__(self) -> "Verdict | None":
        """Pause if other work takes more than `most` and the CPUs are not idle."""
        now = kernel.processors(self._stat)
        if now is None or self._before is None or time.monotonic() - self._at < self._window_s:
            return None
        ticks = max(1, now.total - self._before.total)
        foreign = (now.plain - self._before.plain) / float(ticks)
        idle = (now.idle - self._before.idle) / float(ticks)
        self._at, self._before = time.monotonic(), now
        evidence = "other work takes %s of the CPUs, %s are idle" % (share(foreign), share(idle))
        if foreign > self._most and idle < IDLE:
            return Verdict(True, evidence)
        is_over = idle >= self._needs or foreign < self._most / 2
        return Verdict(False if is_over else None, evidence)


class Thrashing:
    """The verdict on the swapping of the node."""

    def __init__(self, most: float, window_s: float, vmstat: bytes = kernel.VMSTAT) -> None:
        self._most = most
        self._window_s = window_s
        self._vmstat = vmstat
        self._at = time.monotonic()
        self._before = kernel.memory(vmstat)

    def __call__(self) -> "Verdict | None":
        """Pause if more bytes per second than `most` are swapped in, and out."""
        now = kernel.memory(self._vmstat)
        passed = time.monotonic() - self._at
        if now is None or self._before is None or passed < self._window_s:
            return None
        came = (now.swapped_in - self._before.swapped_in) / passed
        went = (now.swapped_out - self._before.swapped_out) / passed
        self._at, self._before = time.monotonic(), now
        evidence = "the node swaps %s/s in and %s/s out" % (size(came), size(went))
        if min(came, went) > self._most:
            return Verdict(True, evidence)
        return Verdict(False if came + went < self._most / 2 else None, evidence)
