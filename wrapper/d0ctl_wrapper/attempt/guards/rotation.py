"""Rotation among the attempts of a node, so that not all pause at once.

Often it is enough if some attempts pause. After one has paused or resumed, the others wait until
the effect can be measured.
"""

import fcntl
import os
import time

from d0ctl_wrapper.protocol.paths import NodePaths

SETTLE_S = 5.0
"""The seconds until the effect of a pause can be measured."""


class Rotation:
    """The right to pause or resume, for one attempt of the node at a time."""

    def __init__(self, paths: NodePaths, name: bytes) -> None:
        self._path = paths.base + b"/rotation-" + name

    def take(self) -> bool:
        """Return whether this attempt may act now. It may if that is unknown, as on a full disk."""
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError:
            return True
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            return self._take(file)
        except OSError:
            return True
        finally:
            os.close(file)

    def _take(self, file: int) -> bool:
        """Record the time, by the monotonic clock that all processes share."""
        now = time.monotonic()
        try:
            last = float(os.pread(file, 32, 0))
        except ValueError:
            last = now - SETTLE_S
        if abs(now - last) < SETTLE_S:
            return False
        os.pwrite(file, b"%-31.3f\n" % now, 0)
        return True
