"""Removal of unneeded files that attempts left on a node.

Files in the cache stay: the control host orders their removal.
"""

import os
import time
from typing import Collection, List

from d0ctl_wrapper.attempt.deliver import stageout
from d0ctl_wrapper.attempt.stage.previous import RECORD
from d0ctl_wrapper.host import attempt_records, spool
from d0ctl_wrapper.host.direct import key
from d0ctl_wrapper.protocol import file_stream
from d0ctl_wrapper.protocol.paths import AttemptFolder, NodePaths, remove

KEEP_PARTS_S = 86400.0
"""The seconds for which an unfinished large file of a stream is kept."""

EXPIRE_EVERY_S = 6 * 3600.0
"""The seconds between two searches for expired logs."""


def clean(folder: AttemptFolder) -> None:
    """Remove the working files of an attempt without a wrapper; its logs stay.

    Files that the next attempt may reuse stay until the control host orders their removal.
    """
    stageout.clear_unfinished(folder)
    _try_remove(folder.file(b"staging"))
    if attempt_records.has_ended(folder) or not _is_of_use(folder):
        _try_remove(folder.work)


def _is_of_use(folder: AttemptFolder) -> bool:
    """Return whether an attempt has recorded finished binaries or events."""
    try:
        names = os.listdir(folder.path)
    except OSError:
        return False
    return any(name == RECORD or name.endswith(b".done") for name in names)


def asides(paths: NodePaths) -> "List[bytes]":
    """List the partial uploads of previous connections, except those that can be continued."""
    folder = paths.cache + b"/aside"
    found = [folder + b"/" + name for name in os.listdir(folder)]
    before = time.time() - KEEP_PARTS_S
    return [path for path in found if not _is_continued(path, before)]


def _is_continued(path: bytes, before: float) -> bool:
    """Return whether a file is part of a larger one that may still be continued."""
    if not os.path.basename(path).startswith(file_stream.PART):
        return False
    try:
        return os.stat(path).st_mtime > before
    except OSError:
        return False


def _forget_keys() -> None:
    """Remove expired stream keys, which killed processes have left."""
    try:
        key.expire()
    except OSError:
        pass


def sweep(paths: NodePaths, ended: "Collection[int]", files: "List[bytes]", keep: float) -> None:
    """Clean up after attempts, remove files, and logs of attempts that ended `keep` seconds ago."""
    for path in files:
        _try_remove(path)
    for attempt in ended:
        clean(paths.attempt(attempt))
    expire(paths, keep)


def expire(paths: NodePaths, keep: float) -> None:
    """Remove folders of attempts that ended `keep` seconds ago and have no unsent messages,
    and old partial files."""
    _forget_keys()
    for path in asides(paths):
        if os.path.basename(path).startswith(file_stream.PART):
            _try_remove(path)
    before = time.time() - keep
    unsent = {name.split(b".")[0] for name in spool.waiting(paths)}
    for name in os.listdir(paths.attempts):
        if name.isdigit() and name not in unsent and _end_time(paths.attempt(int(name))) < before:
            _try_remove(paths.attempt(int(name)).path)


def _end_time(folder: AttemptFolder) -> float:
    """Return the time when an attempt ended; infinity if it has not."""
    try:
        return os.stat(folder.file(b"end")).st_mtime
    except OSError:
        return float("inf")


def _try_remove(path: bytes) -> None:
    try:
        remove(path)
    except OSError:
        pass
