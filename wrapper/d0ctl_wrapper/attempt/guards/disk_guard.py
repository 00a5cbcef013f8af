"""The disk guard: keeps an attempt from filling the disk of its node.

InGrid, "Response to Failures": the binary is suspended, the control host is asked to purge files,
and the binary is resumed when there is space again. If all attempts of the node wait for space and
none is freed, the attempt that began last ends, so that the others continue.
"""

import fcntl
import os
import time
from typing import IO, Callable, Optional

from d0ctl_wrapper.attempt.guards.rotation import Rotation
from d0ctl_wrapper.attempt.intervals import LONGEST_S, SOONEST_S
from d0ctl_wrapper.attempt.run.suspend import Suspension
from d0ctl_wrapper.attempt.verdict import Failed, note_full
from d0ctl_wrapper.disk import FULL_BELOW
from d0ctl_wrapper.host import attempt_records, process
from d0ctl_wrapper.protocol.paths import AttemptFolder
from d0ctl_wrapper.protocol.text import size, span

MOST = 0.05
"""The largest reserve, as a fraction of the disk."""

AGAIN = 1.25
"""The free space for resuming a binary, as a multiple of the reserve."""

ASK_EVERY_S = 30.0
"""The seconds between two requests for space."""

FILL_RATE = 200_000_000
"""The bytes per second at which others may begin to fill a disk between two checks."""

GIVE_UP_AFTER = 1 / 30
"""The fraction of its patience after which an attempt may end so that others continue."""

GRACE_S = 1.0
"""The seconds that a binary has to pause by itself."""

CAUSE = "disk"
"""The name of this guard in a suspension."""


class DiskGuard:
    """The guard over the free space on the disk under BASE, for the attempt in FOLDER."""

    def __init__(
        self,
        folder: AttemptFolder,
        reserve: float,
        patience_s: float,
        suspension: Suspension,
        rotation: Rotation,
        ask: "Callable[[int, str], None]",
    ) -> None:
        self._node = folder.node
        self._queue = SpaceQueue(folder)
        self._asked_reserve = reserve
        self._reserve = reserve
        self._patience_s = patience_s
        self._suspension = suspension
        self._rotation = rotation
        self._ask = ask
        self._suspended_at: "float | None" = None
        self._asked = 0.0
        self._counted = 0.0
        """When the waiting attempts were counted."""
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
        self._counted = self._suspended_at
        self._queue.join()
        reason = "the disk has %s left, less than the reserve of %s"
        self._suspension.want(CAUSE, reason % (size(free), size(self._reserve)), GRACE_S)
        return self._wait(free, self._suspended_at)

    def _free(self) -> int:
        status = os.statvfs(self._node.base)
        self._reserve = min(self._asked_reserve, MOST * status.f_blocks * status.f_frsize)
        free = status.f_bavail * status.f_frsize
        if free < FULL_BELOW:
            note_full(self._node)
        return free

    def _until_full(self, free: int) -> float:
        """Return the seconds until the next check: half the time that the space may last."""
        now = time.monotonic()
        before, self._before = self._before, (now, float(free))
        if before is None:
            return SOONEST_S
        rate = max(FILL_RATE, (before[1] - free) / (now - before[0] + 1e-9))
        return min(LONGEST_S, max(SOONEST_S, (free - self._reserve) / rate / 2))

    def _wait(self, free: int, since: float) -> float:
        """Wait for space, and request it from time to time."""
        now = time.monotonic()
        if free >= AGAIN * self._reserve and self._rotation.take():
            self._suspended_at, self._before = None, None
            self._queue.leave()
            self._suspension.release(CAUSE, "the disk has %s left again" % size(free))
            return SOONEST_S
        if now - since >= self._patience_s and self._rotation.take():
            raise self._failed(free, now - since)
        if now - self._counted >= GIVE_UP_AFTER * self._patience_s:
            self._counted = now
            if self._queue.has_to_end() and self._rotation.take():
                why = "; all attempts here wait for space, and this one began last"
                raise self._failed(free, now - since, why)
        delay = self._suspension.proceed()
        missing = int(AGAIN * self._reserve - free) + 1
        is_due = not self._asked or now - self._asked >= ASK_EVERY_S
        if delay is None and is_due and missing > 0:  # else it only waits for its turn
            self._asked = now
            self._ask(missing, "the disk has %s left" % size(free))
        return delay or SOONEST_S

    def _failed(self, free: int, waited_s: float, why: str = "") -> Failed:
        self._queue.leave()
        numbers = (size(free), size(self._reserve), span(waited_s))
        detail = "the disk has %s left, less than the reserve of %s, for %s now" % numbers
        return Failed("disk-full", detail + why)


class SpaceQueue:
    """The place of one attempt among those of its node that wait for space.

    Each locks a byte of one file, whose position is its id, so the lock ends with its process.
    """

    def __init__(self, folder: AttemptFolder) -> None:
        self._folder = folder
        self._file: "Optional[IO[bytes]]" = None

    def join(self) -> None:
        """Begin to wait; if the file cannot be made, the other attempts do not know of it."""
        try:
            path = self._folder.node.base + b"/waiting"
            self._file = open(path, "a+b", buffering=0)  # noqa: SIM115 (open while it waits)
            fcntl.lockf(self._file, fcntl.LOCK_EX, 1, self._folder.attempt)
        except OSError:
            self.leave()

    def leave(self) -> None:
        """Stop waiting."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def has_to_end(self) -> bool:
        """Return whether all attempts of the node wait, and this one, of several, began last."""
        if self._file is None:
            return False
        others = [attempt for attempt in self._running() if attempt != self._folder.attempt]
        is_last = bool(others) and max(others) < self._folder.attempt
        return is_last and all(self._waits(attempt) for attempt in others)

    def _running(self) -> "list[int]":
        """Return the attempts with a running wrapper; none if that is unknown."""
        node, boot_id = self._folder.node, process.boot_id()
        try:
            found = attempt_records.recorded(node)
        except OSError:
            return []
        return [id for id in found if attempt_records.state(node.attempt(id), boot_id) == "running"]

    def _waits(self, attempt: int) -> bool:
        """Return whether another attempt holds its lock."""
        assert self._file is not None
        try:
            fcntl.lockf(self._file, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, attempt)
        except OSError:
            return True
        fcntl.lockf(self._file, fcntl.LOCK_UN, 1, attempt)
        return False
