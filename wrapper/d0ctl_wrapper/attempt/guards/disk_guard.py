"""The only place that keeps an attempt from filling the disk of its node.

InGrid, "Response to Failures": the binary is suspended, the control host is asked what may be
purged, and the binary goes on when there is space again.
"""

import os
import time
from typing import Callable

from d0ctl_wrapper.attempt.guards.rotation import Turn
from d0ctl_wrapper.attempt.intervals import LONGEST, SOONEST
from d0ctl_wrapper.attempt.run.suspend import Suspension
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.protocol.quantities import size, span

MOST = 0.05
"""The reserve is never more than this part of a disk."""

AGAIN = 1.25
"""A binary goes on when so many times the reserve is free."""

ASK = 30.0
"""Every so many seconds the control host is asked for space."""

GRACE = 1.0
"""How many seconds a binary has to pause by itself."""

WHO = "room"


class Room:
    """The space on the disk under BASE."""

    def __init__(
        self, base: bytes, reserve: float, patience: float, suspension: Suspension, turn: Turn,
        ask: "Callable[[int, str], None]",
    ) -> None:  # fmt: skip
        self._base = base
        self._asked_reserve = reserve
        self._reserve = reserve
        self._patience = patience
        self._suspension = suspension
        self._turn = turn
        self._ask = ask
        self._stands_since: "float | None" = None
        self._asked = 0.0
        self._before: "tuple[float, float] | None" = None

    def look(self) -> float:
        """Suspend the binary or let it go on; Failed when patience is over."""
        try:
            free = self._free()
        except OSError:
            return LONGEST
        if self._stands_since is not None:
            return self._stand(free, self._stands_since)
        if free >= self._reserve:
            return self._until_full(free)
        self._stands_since, self._asked = time.monotonic(), 0.0
        told = "the disk has %s left, less than the reserve of %s"
        self._suspension.want(WHO, told % (size(free), size(self._reserve)), GRACE)
        return self._stand(free, self._stands_since)

    def _free(self) -> int:
        status = os.statvfs(self._base)
        self._reserve = min(self._asked_reserve, MOST * status.f_blocks * status.f_frsize)
        return status.f_bavail * status.f_frsize

    def _until_full(self, free: int) -> float:
        """Give the seconds until the next look: half the time that the space would last."""
        now = time.monotonic()
        before, self._before = self._before, (now, float(free))
        if before is None or free >= before[1]:
            return LONGEST if before is not None else SOONEST
        lasts = (free - self._reserve) * (now - before[0]) / (before[1] - free)
        return min(LONGEST, max(SOONEST, lasts / 2))

    def _stand(self, free: int, since: float) -> float:
        """Wait for space, and ask for it now and then."""
        now = time.monotonic()
        if free >= AGAIN * self._reserve and self._turn.take():
            self._stands_since, self._before = None, None
            self._suspension.release(WHO, "the disk has %s left again" % size(free))
            return SOONEST
        if now - since >= self._patience and self._turn.take():
            told = (size(free), size(self._reserve), span(now - since))
            detail = "the disk has %s left, less than the reserve of %s, for %s now" % told
            raise Failed("disk-full", detail)
        delay = self._suspension.proceed()
        if delay is None and (not self._asked or now - self._asked >= ASK):
            self._asked = now
            self._ask(int(AGAIN * self._reserve - free) + 1, "the disk has %s left" % size(free))
        return delay or SOONEST
