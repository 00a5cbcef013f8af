"""The only place where the attempts of a node take turns, so that not all give way at once.

When a node is short of something, it is enough that some attempts stand still. Each that does,
or goes on, lets the others wait until it shows whether that was enough.
"""

import fcntl
import os
import time

from d0ctl_wrapper.protocol.paths import NodePaths

SETTLE = 5.0
"""How many seconds it takes until what one attempt has done shows."""


class Turn:
    """The right to stand still or to go on, one attempt of the node at a time."""

    def __init__(self, paths: NodePaths, name: bytes) -> None:
        self._path = paths.base + b"/rotation-" + name

    def take(self) -> bool:
        """Tell whether it is our turn; where that can't be known, as on a full disk, it is."""
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
        """Write down the time, which the monotonic clock counts from the boot for all of us."""
        now = time.monotonic()
        try:
            last = float(os.pread(file, 32, 0))
        except ValueError:
            last = now - SETTLE
        if abs(now - last) < SETTLE:
            return False
        os.pwrite(file, b"%-31.3f\n" % now, 0)
        return True
