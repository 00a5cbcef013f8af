"""The only place for the lease of a node: until when its wrappers may touch the world.

The control host renews it while it is in contact. It is told by a clock that goes on while
the machine sleeps, and that nobody sets; another boot of the machine has none.
"""

import os
import time

from d0ctl_wrapper.protocol.paths import NodePaths, read

LEASE = 3000.0
"""How many seconds a wrapper may do without contact, unless its launch says otherwise."""

_BOOT_CLOCK = getattr(time, "CLOCK_BOOTTIME", 7)


def now() -> float:
    """Give the seconds since the machine was booted, its sleep included."""
    return time.clock_gettime(_BOOT_CLOCK)


def renew(paths: NodePaths, boot_id: str, seconds: float) -> None:
    """Let all wrappers of this BASE go on for so long from now.

    It is written in place and at once, for which a full disk has room once it was there.
    """
    text = "%-40s %020.3f\n" % (boot_id, now() + seconds)
    file = os.open(paths.base + b"/lease", os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        os.pwrite(file, text.encode("ascii"), 0)
    finally:
        os.close(file)


def until(paths: NodePaths, boot_id: str) -> float:
    """Read until when wrappers may go on, by `now`; 0 when nobody has said in this boot."""
    try:
        found, when = read(paths.base + b"/lease").decode("ascii").split()
        return float(when) if found == boot_id else 0.0
    except (OSError, ValueError):
        return 0.0
