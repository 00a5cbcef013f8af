"""The only place that tells whether a binary is given the same as in a former attempt.

Between two attempts an input may be dropped, or made anew; what was made of it counts no more.
"""

import hashlib
import os
from typing import Any, Dict

from d0ctl_wrapper.protocol import shape
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import to_path

_TELLING = ("name", "script", "shell", "argv", "inputs", "events", "software")
"""What makes a binary another one."""


def fingerprint(launch: Launch, number: int, work: bytes) -> str:
    """Give a digest of a binary, and of the inputs from outside that lie there for it."""
    binary: "Dict[str, Any]" = launch["binaries"][number - 1]
    outside = {entry["name"]: _path(entry, work) for entry in launch["inputs"]}
    told = [
        [binary.get(name) for name in _TELLING],
        [output["name"] for output in binary["outputs"]],
        sorted(launch["environment"].items()),
        [_look(outside[name]) for name in binary["inputs"] if name in outside],
    ]
    return hashlib.sha256(shape.encode(told).encode("ascii")).hexdigest()


def _path(entry: "Dict[str, Any]", work: bytes) -> bytes:
    """Give where to look at an input: at what it was copied from if the program may change it."""
    return (
        to_path(entry["path"]) if entry["writable"] else os.path.join(work, to_path(entry["name"]))
    )


def _look(path: bytes) -> "Any":
    """Tell a file from any other that might take its place."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return [status.st_ino, status.st_size, status.st_mtime_ns]
