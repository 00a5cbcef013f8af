"""The slot of a wrapper: files that an attempt passes to the next one.

Creating and removing a file costs more than a link or a rename, above all on ext4, which
does not reuse the inodes of files removed a short time ago and searches past them.
"""

import os
from typing import Any, Tuple

from d0ctl_wrapper.protocol.paths import NodePaths, remove, write


class Slot:
    """The spare files of a wrapper, which serves one attempt at a time."""

    def __init__(self, paths: NodePaths) -> None:
        self._spare = paths.cache + b"/aside/work-%d" % os.getpid()
        self._has_spare = False
        self._new_folder: "Tuple[Any, ...] | None" = None
        self._empty: "bytes | None" = None

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
        self._new_folder = _look(path)

    def keep_folder(self, path: bytes) -> bool:
        """Keep a working directory for the next attempt; return False unless it is as if new."""
        try:
            if os.listdir(path) or _look(path) != self._new_folder:
                return False
            os.rename(path, self._spare)
        except OSError:
            return False
        self._has_spare = True
        return True

    def make_empty_file(self, path: bytes) -> None:
        """Create an empty file that nothing may write to, by a link to another one if possible.

        File systems limit the links to a file. One that a program has written to is not used.
        """
        if self._empty is not None:
            try:
                if os.stat(self._empty).st_size == 0:
                    os.link(self._empty, path)
                    return
            except OSError:
                pass
        write(path, b"")
        self._empty = path

    def close(self) -> None:
        """Remove the spare files."""
        if self._has_spare:
            try:
                remove(self._spare)
            except OSError:
                pass


def _look(path: bytes) -> "Tuple[Any, ...]":
    """Return everything about a folder that a program could have changed."""
    status = os.lstat(path)
    try:
        attributes = os.listxattr(path, follow_symlinks=False)
    except OSError:
        attributes = []
    return (
        status.st_mode,
        status.st_uid,
        status.st_gid,
        status.st_nlink,
        status.st_size,
        attributes,
    )
