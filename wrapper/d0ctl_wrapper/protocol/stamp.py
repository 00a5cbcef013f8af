"""Tells from outside whether a file is still the one that was recorded."""

import os
from typing import Any, Dict, Tuple

from d0ctl_wrapper.protocol import shape

FIELDS: "Dict[str, Tuple[shape.Check, Any]]" = {
    "inode": (shape.maybe(shape.whole), None),
    "mtime": (shape.maybe(shape.integer), None),
}
"""A recorded file in a message: its inode, and its time of change in nanoseconds."""

UNITS = (1, 100, 1000, 10**6, 10**9)
"""To so many nanoseconds a file system may round a time when it reads it from its disk again."""


def of(status: os.stat_result) -> "Dict[str, int]":
    """Give what is recorded of a file."""
    return {"inode": status.st_ino % 2**63, "mtime": status.st_mtime_ns}


def is_same(status: os.stat_result, recorded: "Dict[str, Any]") -> bool:
    """Tell whether a file is the recorded one; what was not recorded is not compared."""
    return matches(of(status), recorded)


def matches(found: "Dict[str, Any]", recorded: "Dict[str, Any]") -> bool:
    """Tell the same of a file that was looked at before."""
    inode, mtime = recorded.get("inode"), recorded.get("mtime")
    if inode is not None and inode != found["inode"]:
        return False
    return mtime is None or any(found["mtime"] == mtime - mtime % unit for unit in UNITS)


def read_only(status: os.stat_result) -> int:
    """Give the mode of a file in a cache: nobody writes, and what its owner may run stays so."""
    return 0o400 | (status.st_mode & 0o100)
