"""The survey of a node: all attempts and files under BASE, for comparison with the database."""

import os
import stat
import time
from typing import Any, Dict, Iterator

from d0ctl_wrapper.disk import digest
from d0ctl_wrapper.host import process, records
from d0ctl_wrapper.protocol import stamp
from d0ctl_wrapper.protocol.frames import Stream
from d0ctl_wrapper.protocol.paths import NodePaths, to_text

Frame = Dict[str, Any]

PART = 1000
"""The most entries in one frame."""


def survey(paths: NodePaths, frame: Frame, stream: Stream) -> None:
    """Send the state of each attempt and the path of each file, in several frames.

    With `checksums` the files of the cache are read, which may take hours.
    """
    answer = {"kind": "surveyed", "id": frame["id"]}
    stream.send_list(answer, "entries", _entries(paths, frame["checksums"]), PART)


def _entries(paths: NodePaths, checksums: bool) -> "Iterator[Frame]":
    boot_id = process.boot_id()
    for attempt in _recorded(paths):
        folder = paths.attempt(attempt)
        state = records.state(folder, boot_id)
        yield {"attempt": attempt, "path": "attempts/%d" % attempt, "state": state, "age": 0}
        if os.path.isdir(folder.work):
            yield {"attempt": attempt, "path": "attempts/%d/work" % attempt, "state": state,
                   "age": _age(folder.work)}  # fmt: skip
    for top in (paths.cache, paths.base + b"/spool"):
        for path in _files(top):
            name = to_text(path[len(paths.base) + 1 :])
            entry = {"attempt": None, "path": name, "state": "", "age": _age(path)}
            yield {**entry, **(_copy(path, checksums) if top == paths.cache else {})}


def _copy(path: bytes, checksums: bool) -> Frame:
    """Return size and stamp of a file of the cache, and its checksum if requested."""
    try:
        status = os.lstat(path)
        found: Frame = {"size": status.st_size, **stamp.of(status)}
        if checksums and stat.S_ISREG(status.st_mode):
            found["size"], found["checksum"] = digest(path)
        return found
    except OSError:
        return {}


def _recorded(paths: NodePaths) -> "list[int]":
    try:
        return records.recorded(paths)
    except FileNotFoundError:
        return []


def _files(folder: bytes) -> "Iterator[bytes]":
    """Yield all files below a folder; those removed meanwhile are left out."""
    try:
        with os.scandir(folder) as entries:
            found = sorted((entry.path, entry.is_dir(follow_symlinks=False)) for entry in entries)
    except OSError:
        return
    for path, is_folder in found:
        if is_folder:
            yield from _files(path)
        else:
            yield path


def _age(path: bytes) -> float:
    try:
        return max(0.0, time.time() - os.lstat(path).st_mtime)
    except OSError:
        return 0.0
