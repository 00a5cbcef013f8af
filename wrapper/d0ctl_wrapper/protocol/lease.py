"""The lease of a node: until when its wrappers may change anything outside of it.

The control host renews it while it is in contact. Its clock continues while the machine sleeps and
cannot be set; after a reboot there is no lease.
"""

import os
import time

from d0ctl_wrapper.protocol.paths import NodePaths, read

LEASE_S = 3000.0
"""Default for the seconds that a wrapper may continue without contact."""

ELSEWHERE = "elsewhere"
"""In place of the id of a boot: wrappers are on other machines, in jobs of a batch system."""

_BOOT_CLOCK = getattr(time, "CLOCK_BOOTTIME", 7)


def now(boot_id: str = "") -> float:
    """Return the seconds since the machine was booted, including its sleep.

    Wrappers elsewhere share only the time of day with the relay.
    """
    return time.time() if boot_id == ELSEWHERE else time.clock_gettime(_BOOT_CLOCK)


def renew(paths: NodePaths, boot_id: str, seconds: float) -> None:
    """Renew the lease of all wrappers of this BASE for `seconds` from now.

    The file is overwritten in place and in one call, which works on a full disk too.
    """
    text = "%-40s %020.3f\n" % (boot_id, now(boot_id) + seconds)
    file = os.open(paths.base + b"/lease", os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        os.pwrite(file, text.encode("ascii"), 0)
    finally:
        os.close(file)


def until(paths: NodePaths, boot_id: str) -> float:
    """Return the end of the lease by the clock of `now`; 0 without a lease in this boot."""
    try:
        found, when = read(paths.base + b"/lease").decode("ascii").split()
        return float(when) if found == boot_id else 0.0
    except (OSError, ValueError):
        return 0.0
