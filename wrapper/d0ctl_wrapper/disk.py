"""Reading, copying and syncing files, and the errors of a full disk."""

import collections
import errno
import hashlib
import os
import time
from typing import IO, Callable, Dict, Iterable, Iterator

CHUNK = 1024 * 1024
"""Bytes read or written at once."""

MOST_SYNCS = 8
"""The most files that are synced at the same time."""

QUICK_S = 0.002
"""A fast disk syncs a file in fewer seconds than it takes to start threads for it."""

FULL = (errno.ENOSPC, errno.EDQUOT)
"""The errors of a full disk or quota."""

FULL_BELOW = 64 * 1024
"""The free bytes below which a disk is full."""


def _no_pause() -> None:
    """Do nothing."""


def digest(path: bytes, pause_point: "Callable[[], None]" = _no_pause) -> "tuple[int, str]":
    """Return size and checksum of a file, and sync it to the disk.

    `pause_point` is called before each piece, and may raise to give up.
    """
    sha256 = hashlib.sha256()
    size = 0
    with open(path, "rb", buffering=0) as file:
        while True:
            pause_point()
            chunk = file.read(CHUNK)
            if not chunk:
                break
            size += len(chunk)
            sha256.update(chunk)
        os.fsync(file.fileno())
    return size, "sha256:" + sha256.hexdigest()


def is_full(folder: bytes) -> bool:
    """Return whether the disk of a folder has hardly a byte left."""
    try:
        status = os.statvfs(folder)
    except OSError:
        return False
    return status.f_bavail * status.f_frsize < FULL_BELOW


def copy_pieces(source: "IO[bytes]", target: int, pause_point: "Callable[[], None]") -> None:
    """Copy an open file to another; `pause_point` is called before each piece, and may raise."""
    while True:
        pause_point()
        chunk = source.read(CHUNK)
        if not chunk:
            return
        write_all(target, chunk)


def write_all(file: int, data: bytes) -> None:
    """Write all data to an open file, or raise OSError if there is no space."""
    while data:
        written = os.write(file, data)
        if not written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        data = data[written:]


def sync(path: bytes) -> None:
    """Sync a file, or the names in a folder, to the disk."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def sync_all(paths: "Iterable[bytes]") -> "Dict[bytes, OSError]":
    """Sync files, and the names in folders; return the faults.

    One after another while the disk is fast: threads take three times as much CPU. Else at
    the same time: a journal then commits them together, in a sixth of the time.
    """
    rest = collections.deque(collections.OrderedDict.fromkeys(paths))
    faults: "Dict[bytes, OSError]" = {}

    def sync_next() -> "float | None":
        """Sync the next path; return the seconds that it took, None without one."""
        try:
            path = rest.popleft()
        except IndexError:
            return None
        began = time.monotonic()
        try:
            sync(path)
        except OSError as error:
            faults[path] = error
        return time.monotonic() - began

    def work() -> None:
        while sync_next() is not None:
            pass

    took: "float | None" = 0.0
    while took is not None and took < QUICK_S:
        took = sync_next()
    if len(rest) > 1:
        _work_in_threads(work, min(len(rest), MOST_SYNCS) - 1)
    else:
        work()
    return faults


def _work_in_threads(work: "Callable[[], None]", helpers: int) -> None:
    """Do work here, and at the same time in other threads."""
    import threading  # late: few disks are so slow, and each wrapper has its memory

    threads = [threading.Thread(target=work) for _ in range(helpers)]
    for thread in threads:
        thread.start()
    work()
    for thread in threads:
        thread.join()


def walk_files(folder: bytes) -> "Iterator[os.stat_result]":
    """Yield the status of each file and folder below a folder; links are not followed.

    Files that others remove meanwhile are skipped.
    """
    folders = [folder]
    while folders:
        try:
            names = os.scandir(folders.pop())
        except OSError:
            continue
        with names:
            for entry in names:
                try:
                    status = entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                except OSError:
                    continue
                yield status
