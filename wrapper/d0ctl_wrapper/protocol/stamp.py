"""Stamps of files: whether a file is still the recorded one, judged by its metadata."""

import os
from typing import Any, Dict, Tuple

from d0ctl_wrapper.protocol.checks import shape

FIELDS: "Dict[str, Tuple[shape.Check, Any]]" = {
    "inode": (shape.maybe(shape.whole), None),
    "mtime": (shape.maybe(shape.integer), None),
}
"""The stamp in a message: inode, and modification time in nanoseconds."""

UNITS = (1, 100, 1000, 10**6, 10**9)
"""Time resolutions of file systems, in nanoseconds."""


def of(status: os.stat_result) -> "Dict[str, int]":
    """Return the stamp of a file."""
    return {"inode": status.st_ino % 2**63, "mtime": status.st_mtime_ns}


def is_same(status: os.stat_result, recorded: "Dict[str, Any]") -> bool:
    """Return whether a file is the recorded one; absent fields are not compared."""
    return matches(of(status), recorded)


def matches(found: "Dict[str, Any]", recorded: "Dict[str, Any]") -> bool:
    """Return whether a stamp is that of the recorded file; absent fields are not compared."""
    inode, mtime = recorded.get("inode"), recorded.get("mtime")
    if inode is not None and inode != found["inode"]:
        return False
    return mtime is None or any(found["mtime"] == mtime - mtime % unit for unit in UNITS)


def read_only(status: os.stat_result) -> int:
    """Return the mode of a file in a cache: read-only; a program stays executable."""
    return 0o400 | (status.st_mode & 0o100)
