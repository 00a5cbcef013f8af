"""The fingerprint of a binary and its inputs.

Between two attempts an input may be dropped or made again; then outputs made from the old one are
not reused.
"""

import hashlib
import os
from typing import Any, Dict, List

from d0ctl_wrapper.host import packing
from d0ctl_wrapper.protocol.checks import json_text
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import to_path

_FIELDS = ("name", "script", "shell", "argv", "inputs", "events", "software", "stdin")
"""The fields of a binary that are part of its fingerprint."""


def fingerprint(launch: Launch, number: int, work: bytes) -> str:
    """Return a digest of a binary, and of its inputs from outside of the attempt."""
    binary: "Dict[str, Any]" = launch["binaries"][number - 1]
    known = outside(launch, number, work)
    parts = [
        [binary.get(name) for name in _FIELDS],
        [output["name"] for output in binary["outputs"]],
        sorted(launch["environment"].items()),
        [_stamp_of(known[name]) for name in _read_by(binary) if name in known],
    ]
    return hashlib.sha256(json_text.encode(parts).encode("ascii")).hexdigest()


def outside(launch: Launch, number: int, work: bytes) -> "Dict[str, bytes]":
    """Return the paths of the inputs of a binary from outside of the attempt, by name."""
    paths = {entry["name"]: _path(entry, work) for entry in launch["inputs"]}
    return {name: paths[name] for name in _read_by(launch["binaries"][number - 1]) if name in paths}


def _read_by(binary: "Dict[str, Any]") -> "List[str]":
    """Return the names of the inputs of a binary; its standard input is not on their list."""
    return [*binary["inputs"], *filter(None, [binary["stdin"]])]


def _path(entry: "Dict[str, Any]", work: bytes) -> bytes:
    """Return the path of an input; for a copy that the program may change, of its source."""
    is_copy = entry["writable"] or packing.is_folder(entry["name"])
    return to_path(entry["path"]) if is_copy else os.path.join(work, to_path(entry["name"]))


def _stamp_of(path: bytes) -> "Any":
    """Return the stamp of a file; None if it is missing."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return [status.st_ino, status.st_size, status.st_mtime_ns]
