"""Counters of the kernel for the whole node.

They are None where the kernel does not count, or a container hides it.
"""

import os
from typing import Dict, NamedTuple, Optional

from d0ctl_wrapper.protocol.paths import read

VMSTAT = b"/proc/vmstat"
STAT = b"/proc/stat"

_PAGE = os.sysconf("SC_PAGE_SIZE")


class Memory(NamedTuple):
    """Bytes swapped in and out, and processes killed because memory ran out, since the boot."""

    swapped_in: int
    swapped_out: int
    killed: int


class Processors(NamedTuple):
    """Clock ticks of all processors since the boot: all, idle, and of processes not niced."""

    total: int
    idle: int
    plain: int


def memory(path: bytes = VMSTAT) -> "Optional[Memory]":
    """Read the counters of memory."""
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
    """Read the counters of the processors.

    Binaries run niced: processes that are not niced are the work of others.
    """
    try:
        ticks = [int(field) for field in read(path).split(b"\n", 1)[0].split()[1:9]]
        user, _, _, idle, waiting, _, _, stolen = ticks
    except (OSError, ValueError):
        return None
    return Processors(sum(ticks), idle + waiting, user + stolen)
