"""Counters of the kernel for the whole node.

They are None where the kernel does not count, or a container hides it.
"""

import os
from typing import NamedTuple, Optional

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
        text = b"\n" + read(path)
    except OSError:
        return None
    killed = _count(text, b"oom_kill")
    if killed is None:
        return None
    swapped_in, swapped_out = _count(text, b"pswpin") or 0, _count(text, b"pswpout") or 0
    return Memory(swapped_in * _PAGE, swapped_out * _PAGE, killed)


def _count(text: bytes, name: bytes) -> "int | None":
    """Return the number in the line that begins with a name; None if there is none."""
    _, _, rest = text.partition(b"\n" + name + b" ")
    return int(rest.partition(b"\n")[0]) if rest else None


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
