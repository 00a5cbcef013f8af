"""The disk guard: keeps an attempt from filling the disk of its node.

InGrid, "Response to Failures": the binary is suspended, the control host is asked to purge files,
and the binary is resumed when there is space again.
"""

import os
import time
from typing import Callable

from d0ctl_wrapper.attempt.guards.rotation import Rotation
from d0ctl_wrapper.attempt.intervals import LONGEST_S, SOONEST_S
from d0ctl_wrapper.attempt.run.suspend import Suspension
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.protocol.text import size, span

MOST = 0.05
"""The largest reserve, as a part of the disk."""

AGAIN = 1.25
"""The free space for resuming a binary, as a multiple of the reserve."""

ASK_EVERY_S = 30.0
"""The seconds between two requests for space."""

GRACE_S = 1.0
"""The seconds that a binary has to pause by itself."""

CAUSE = "disk"
"""The name of this guard in a suspension."""


class DiskGuard:
    """The guard over the free space on the disk under BASE."""

    def __init__(
        self,
        base: bytes,
        reserve: float,
        patience_s: float,
        suspension: Suspension,
        rotation: Rotation,
        ask: "Callable[[int, str], None]",
    ) -> None:
        self._base = base
        self._asked_reserve = reserve
        self._reserve = reserve
        self._patience_s = patience_s
        self._suspension = suspension
        self._rotation = rotation
        self._ask = ask
        self._suspended_at: "float | None" = None
        self._asked = 0.0
        self._before: "tuple[float, float] | None" = None

    def poll(self) -> float:
        """Suspend or resume the binary; raise Failed after waiting too long."""
        try:
            free = self._free()
        except OSError:
            return LONGEST_S
        if self._suspended_at is not None:
            return self._wait(free, self._suspended_at)
        if free >= self._reserve:
            return self._until_full(free)
        self._suspended_at, self._asked = time.monotonic(), 0.0
        reason = "the disk has %s left, less than the reserve of %s"
        self._suspension.want(CAUSE, reason % (size(free), size(self._reserve)), GRACE_S)
        return self._wait(free, self._suspended_at)

    def _free(self) -> int:
        status = os.statvfs(self._base)
        self._reserve = min(self._asked_reserve, MOST * status.f_blocks * status.f_frsize)
        return status.f_bavail * status.f_frsize

    def _until_full(self, free: int) -> float:
        """Return the seconds until the next check: half the time that the space would last."""
        now = time.monotonic()
        before, self._before = self._before, (now, float(free))
        if before is None or free >= before[1]:
            return LONGEST_S if before is not None else SOONEST_S
        lasts = (free - self._reserve) * (now - before[0]) / (before[1] - free)
        return min(LONGEST_S, max(SOONEST_S, lasts / 2))

    def _wait(self, free: int, since: float) -> float:
        """Wait for space, and request it now and then."""
        now = time.monotonic()
        if free >= AGAIN * self._reserve and self._rotation.take():
            self._suspended_at, self._before = None, None
            self._suspension.release(CAUSE, "the disk has %s left again" % size(free))
            return SOONEST_S
        if now - since >= self._patience_s and self._rotation.take():
            numbers = (size(free), size(self._reserve), span(now - since))
            detail = "the disk has %s left, less than the reserve of %s, for %s now" % numbers
            raise Failed("disk-full", detail)
        delay = self._suspension.proceed()
        if delay is None and (not self._asked or now - self._asked >= ASK_EVERY_S):
            self._asked = now
            self._ask(int(AGAIN * self._reserve - free) + 1, "the disk has %s left" % size(free))
        return delay or SOONEST_S
