"""The slot of a wrapper: files that an attempt passes to the next one.

Creating and removing a file costs more than a link or a rename. On ext4 it costs most, because ext4
searches past the inodes of files that were removed a short time ago.
"""

import os
import stat
import time
from typing import Any, Callable, Dict, List, Tuple

from d0ctl_wrapper.attempt.run.spawn import LOG_FLAGS
from d0ctl_wrapper.host import process
from d0ctl_wrapper.protocol.paths import NodePaths, remove, write

MOST_LOGS = 4
"""The most spare logs."""

LAST_WORDS = 16 * 1024
"""The bytes of disk that a log has in any case, for what its program says of a full disk."""

KEEP_SIZE = 1
"""The mode of fallocate in which a file has space beyond its end (linux/falloc.h)."""

SLOW_S = 0.001
"""A disk that takes more seconds is slow: a start on the CPUs that wait for it costs less."""


class Slot:
    """The spare files of a wrapper, which serves one attempt at a time."""

    def __init__(
        self, paths: NodePaths, send_computed: "Callable[[], None]" = lambda: None
    ) -> None:
        self._send_computed = send_computed
        self._is_disk_slow = False
        self._spare = paths.cache + b"/aside/work-%d" % os.getpid()
        self._has_spare = False
        self._new_folder: "Tuple[Any, ...] | None" = None
        self._empty: "Dict[str, bytes]" = {}
        self._log = paths.cache + b"/aside/log-%d" % os.getpid()
        self._logs_kept = 0
        self._logs: "List[bytes]" = []
        self._reserved: "List[bytes]" = []

    def make_folder(self, path: bytes) -> None:
        """Create a working directory, or use the spare one."""
        if self._has_spare:
            self._has_spare = False
            try:
                os.rename(self._spare, path)
                return
            except OSError:
                pass
        os.mkdir(path, 0o700)
        self._new_folder = _state_of_folder(path)

    def keep_folder(self, path: bytes) -> bool:
        """Keep a working directory for the next attempt; return False unless it is as if new."""
        try:
            if os.listdir(path) or _state_of_folder(path) != self._new_folder:
                return False
            os.rename(path, self._spare)
        except OSError:
            return False
        self._has_spare = True
        return True

    def make_empty_file(self, path: bytes, kind: str = "list") -> None:
        """Create an empty file that nothing may write to, by a link to one of its kind if possible.

        File systems limit the links to a file. One that a program has written to is not used.
        """
        if kind in self._empty:
            try:
                if os.stat(self._empty[kind]).st_size == 0:
                    os.link(self._empty[kind], path)
                    return
            except OSError:
                pass
        write(path, b"")
        self._empty[kind] = path

    def make_logs(self, paths: "List[bytes]") -> None:
        """Rename spare logs to those of a program, and keep space for the last, its errors.

        If there is no spare log, the start of the program creates one.
        """
        for path in paths:
            if self._logs:
                try:
                    os.rename(self._logs.pop(), path)
                    os.utime(path)
                except OSError:
                    pass
        self._reserve(paths[-1])

    def _reserve(self, path: bytes) -> None:
        """Keep space on the disk for a log, so that its program can say that the disk is full.

        The log of a program that meets a full disk is on that disk, too. Some file systems, like
        NFS, can't do this.
        """
        try:
            file = os.open(path, LOG_FLAGS, 0o600)
        except OSError:
            return
        try:
            if process.call_c("fallocate", file, KEEP_SIZE, 0, LAST_WORDS) == 0:
                self._reserved.append(path)
        finally:
            os.close(file)

    def release_logs(self) -> None:
        """Free the space of logs that programs, which have ended, did not need.

        After the report of their end: if a log has filled the disk, the report cuts it first.
        """
        for path in self._reserved:
            try:
                os.truncate(path, os.stat(path).st_size)
            except OSError:
                pass
        self._reserved = []

    def keep_log(self, path: bytes) -> None:
        """Keep an empty log for the next attempt, and leave another empty file in its place."""
        if len(self._logs) >= MOST_LOGS or not _is_new_log(path):
            return
        self._logs_kept += 1
        spare = self._log + b"-%d" % self._logs_kept
        try:
            os.rename(path, spare)
        except OSError:
            return
        try:
            self.make_empty_file(path, "log")
        except OSError:
            os.rename(spare, path)
        else:
            self._logs.append(spare)

    def wait_for_disk(self, sync: "Callable[[], None]") -> None:
        """Sync what an attempt has made; if that lasts, another attempt may have its CPUs."""
        if self._is_disk_slow:
            self._send_computed()
        began = time.monotonic()
        sync()
        self._is_disk_slow = time.monotonic() - began > SLOW_S

    def close(self) -> None:
        """Remove the spare files."""
        for log in self._logs:
            _try_remove(log)
        if self._has_spare:
            _try_remove(self._spare)


def _try_remove(path: bytes) -> None:
    try:
        remove(path)
    except OSError:
        pass


def _is_new_log(path: bytes) -> bool:
    """Return whether a log is as one that was just created."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return (
        status.st_size == 0
        and status.st_mode == stat.S_IFREG | 0o600
        and (status.st_uid, status.st_gid) == (os.geteuid(), os.getegid())
        and status.st_nlink == 1
        and not _attributes(path)
    )


def _state_of_folder(path: bytes) -> "Tuple[Any, ...]":
    """Return everything about a folder that a program could have changed."""
    status = os.lstat(path)
    return (
        status.st_mode,
        status.st_uid,
        status.st_gid,
        status.st_nlink,
        status.st_size,
        _attributes(path),
    )


def _attributes(path: bytes) -> "List[str]":
    try:
        return os.listxattr(path, follow_symlinks=False)
    except OSError:
        return []
