"""Listings of the folder of an attempt."""

import itertools
import os
import stat
from typing import Any, Dict, List

from d0ctl_wrapper.host import process, records
from d0ctl_wrapper.protocol import shape
from d0ctl_wrapper.protocol.frames import SPLIT_AT
from d0ctl_wrapper.protocol.paths import NodePaths, to_text

Frame = Dict[str, Any]

MOST = 10000
"""The most entries of a folder in a listing."""


def listing(paths: NodePaths, frame: Frame) -> Frame:
    """Return the answer with the entries of a folder of an attempt, or with one file of it.

    `state` is the state of the attempt just before.
    """
    folder = paths.attempt(frame["attempt"])
    state = records.state(folder, process.boot_id())
    answer = {"kind": "listing", "id": frame["id"], "state": state, "type": "", "entries": [],
              "more": False, "message": ""}  # fmt: skip
    try:
        path = folder.resolve(frame["path"])
        kind = _kind(os.stat(path).st_mode)
        if kind != "folder":
            return {**answer, "type": kind, "entries": [_entry(path, frame["path"])]}
        entries = _entries(path)
    except (OSError, ValueError) as error:
        return {**answer, "message": getattr(error, "strerror", None) or str(error)}
    fitting = _fitting(entries[:MOST])
    return {**answer, "type": kind, "entries": fitting, "more": len(entries) > len(fitting)}


def _fitting(entries: "List[Frame]") -> "List[Frame]":
    """Return the entries that fit into one frame."""
    size = 0
    for position, entry in enumerate(entries):
        size += len(shape.encode(entry))
        if size > SPLIT_AT:
            return entries[:position]
    return entries


def _entries(folder: bytes) -> "List[Frame]":
    """Describe the entries of a folder by name, at most one more than a listing has."""
    with os.scandir(folder) as found:
        names = sorted(entry.name for entry in itertools.islice(found, MOST + 1))
    entries = []
    for name in names:
        try:
            entries.append(_entry(os.path.join(folder, name), to_text(name)))
        except OSError:  # removed meanwhile
            continue
    return entries


def _entry(path: bytes, name: str) -> Frame:
    """Describe one entry; for a link, its target."""
    status = os.lstat(path)
    entry: Frame = {"name": name, "type": _kind(status.st_mode), "target": None}
    if entry["type"] == "link":
        entry["target"] = to_text(os.readlink(path))
        try:
            status = os.stat(path)
        except OSError:
            return {**entry, "size": None, "time": status.st_mtime}
    return {**entry, "size": status.st_size, "time": status.st_mtime}


def _kind(mode: int) -> str:
    for name, test in (("file", stat.S_ISREG), ("folder", stat.S_ISDIR), ("link", stat.S_ISLNK)):
        if test(mode):
            return name
    return "other"
