"""The only place that reads what the kernel counts for the whole node.

A kernel that does not count something, or a container that hides it, gives None.
"""

import os
from typing import Dict, NamedTuple, Optional

from d0ctl_wrapper.protocol.paths import read

VMSTAT = b"/proc/vmstat"
STAT = b"/proc/stat"

_PAGE = os.sysconf("SC_PAGE_SIZE")


class Memory(NamedTuple):
    """Bytes read from swap and written to it, and processes killed for want of memory, so far."""

    swapped_in: int
    swapped_out: int
    killed: int


class Processors(NamedTuple):
    """Clock ticks of all processors so far: spent in all, idle, and on what is not niced."""

    total: int
    idle: int
    plain: int


def memory(path: bytes = VMSTAT) -> "Optional[Memory]":
    """Read how memory fares."""
    try:
        lines = read(path).split(b"\n")
    except OSError:
        return None
    counts: "Dict[bytes, int]" = {}
    for line in lines:
        if line.startswith((b"pswp", b"oom_kill ")):
            name, count = line.split()
            counts[name] = int(count)
    if b"oom_kill" not in counts:
        return None
    swapped = (counts.get(b"pswpin", 0) * _PAGE, counts.get(b"pswpout", 0) * _PAGE)
    return Memory(swapped[0], swapped[1], counts[b"oom_kill"])


def processors(path: bytes = STAT) -> "Optional[Processors]":
    """Read what the processors did.

    Binaries run niced, below all others: so what is not niced is the work of others.
    """
    try:
        ticks = [int(field) for field in read(path).split(b"\n", 1)[0].split()[1:9]]
        user, _, _, idle, waiting, _, _, stolen = ticks
    except (OSError, ValueError):
        return None
    return Processors(sum(ticks), idle + waiting, user + stolen)
