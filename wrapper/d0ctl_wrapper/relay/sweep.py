"""The only place that clears a node of what attempts left that nobody needs.

What attempts made and still lies in the cache is none of it: the control host says when that
may go.
"""

import os
import time
from typing import Collection, List

from d0ctl_wrapper.attempt.deliver import unfinished_files
from d0ctl_wrapper.attempt.stage.previous import RECORD
from d0ctl_wrapper.host import records, spool
from d0ctl_wrapper.protocol.paths import AttemptFolder, NodePaths, remove

EVERY = 6 * 3600.0
"""Every so many seconds logs are looked for that have been kept for long enough."""


def clean(folder: AttemptFolder) -> None:
    """Remove what an attempt without a wrapper was at work with; its logs stay.

    What the next attempt may take up stays, until the control host has it removed.
    """
    unfinished_files.clear(folder)
    _drop(folder.file(b"staging"))
    if records.has_ended(folder) or not _is_of_use(folder):
        _drop(folder.work)


def _is_of_use(folder: AttemptFolder) -> bool:
    """Tell whether an attempt has recorded binaries, or events, that are done."""
    try:
        names = os.listdir(folder.path)
    except OSError:
        return False
    return any(name == RECORD or name.endswith(b".done") for name in names)


def asides(paths: NodePaths) -> "List[bytes]":
    """List the files that a former connection was bringing, which will never be whole."""
    folder = paths.cache + b"/aside"
    return [folder + b"/" + name for name in os.listdir(folder)]


def sweep(paths: NodePaths, ended: "Collection[int]", files: "List[bytes]", keep: float) -> None:
    """Clean after attempts, remove files, and logs of what ended `keep` seconds ago."""
    for path in files:
        _drop(path)
    for attempt in ended:
        clean(paths.attempt(attempt))
    expire(paths, keep)


def expire(paths: NodePaths, keep: float) -> None:
    """Remove the folders of attempts that ended long ago and have nothing left to say."""
    before = time.time() - keep
    unsaid = {name.split(b".")[0] for name in spool.waiting(paths)}
    for name in os.listdir(paths.attempts):
        if name.isdigit() and name not in unsaid and _ended(paths.attempt(int(name))) < before:
            _drop(paths.attempt(int(name)).path)


def _ended(folder: AttemptFolder) -> float:
    """Give when an attempt ended; the end of time when it has not."""
    try:
        return os.stat(folder.file(b"end")).st_mtime
    except OSError:
        return float("inf")


def _drop(path: bytes) -> None:
    try:
        remove(path)
    except OSError:
        pass
