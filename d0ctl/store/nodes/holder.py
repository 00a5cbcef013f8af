"""The holder of a lease: a process that can be checked for life."""

import os
from functools import cache
from pathlib import Path


@cache
def boot_id() -> str:
    """Return the kernel's id of this boot of the machine."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return "unknown"


def start_time(pid: int) -> str | None:
    """Return when a process began, in clock ticks since boot; None if there is none.

    An ended process counts as none, even if its parent never collects it.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in ("Z", "X") else fields[19]


def holder() -> str:
    """This process, as the holder of leases."""
    pid = os.getpid()
    return f"{boot_id()} {pid} {start_time(pid)}"


def process_id(name: str) -> int:
    """Return the process id of the holder of that name."""
    return int(name.split(" ")[1])


def is_dead(name: str) -> bool:
    """Return whether the holder of that name is certainly gone."""
    boot, _, started = name.split(" ")
    return boot != boot_id() or start_time(process_id(name)) != started
