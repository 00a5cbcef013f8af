"""The only place where a relay tells all that lies on its node, for who holds it against a list."""

import os
import stat
import time
from typing import Any, Dict, Iterator

from d0ctl_wrapper.disk import digest
from d0ctl_wrapper.host import process, records
from d0ctl_wrapper.protocol import stamp
from d0ctl_wrapper.protocol.frames import Stream
from d0ctl_wrapper.protocol.paths import Places, to_text

Frame = Dict[str, Any]

PART = 1000
"""At most so many entries go into one frame."""


def survey(places: Places, frame: Frame, stream: Stream) -> None:
    """Tell of each attempt how it stands, and of each file where it is; several frames.

    With `checksums` the files of the cache are read, which may take hours.
    """
    answer = {"kind": "surveyed", "id": frame["id"]}
    stream.send_list(answer, "entries", _entries(places, frame["checksums"]), PART)


def _entries(places: Places, checksums: bool) -> "Iterator[Frame]":
    boot_id = process.boot_id()
    for attempt in _recorded(places):
        state = records.state(places, attempt, boot_id)
        yield {"attempt": attempt, "path": "attempts/%d" % attempt, "state": state, "age": 0}
        work = places.attempt(attempt, b"work")
        if os.path.isdir(work):
            yield {"attempt": attempt, "path": "attempts/%d/work" % attempt, "state": state,
                   "age": _age(work)}  # fmt: skip
    for folder in (places.cache, places.base + b"/spool"):
        for path in _files(folder):
            name = to_text(path[len(places.base) + 1 :])
            entry = {"attempt": None, "path": name, "state": "", "age": _age(path)}
            yield {**entry, **(_copy(path, checksums) if folder == places.cache else {})}


def _copy(path: bytes, checksums: bool) -> Frame:
    """Tell how a file of the cache looks, and if that is asked what is in it."""
    try:
        status = os.lstat(path)
        found: Frame = {"size": status.st_size, **stamp.of(status)}
        if checksums and stat.S_ISREG(status.st_mode):
            found["size"], found["checksum"] = digest(path)
        return found
    except OSError:
        return {}


def _recorded(places: Places) -> "list[int]":
    try:
        return records.recorded(places)
    except FileNotFoundError:
        return []


def _files(folder: bytes) -> "Iterator[bytes]":
    """Find all files below a folder; what goes meanwhile is not there."""
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
