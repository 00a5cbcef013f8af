"""Logs of an attempt that fill a disk: their beginning and their end stay."""

import os
import stat

from d0ctl_wrapper.protocol.paths import AttemptFolder
from d0ctl_wrapper.protocol.text import size

FIRST, LAST = 500 * 1000, 100 * 1000
"""The bytes that stay of the beginning and of the end of a log."""


def shorten(folder: AttemptFolder) -> None:
    """Cut the middle out of the long logs of an attempt whose processes have ended."""
    for name in os.listdir(folder.path):
        if name.endswith((b".out", b".err")):
            try:
                _shorten(folder.file(name))
            except OSError:
                pass  # its last part is lost if the disk is filled again meanwhile


def _shorten(path: bytes) -> None:
    """Cut a log, unless the program has put a link in its place."""
    file = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        status = os.fstat(file)
        cut = status.st_size - FIRST - LAST
        if cut < LAST or not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            return
        last = os.pread(file, LAST, status.st_size - LAST)
        os.ftruncate(file, FIRST)
        note = "\n[%s of this log were removed, because it filled the disk]\n" % size(cut)
        os.pwrite(file, note.encode("utf-8") + last, FIRST)
    finally:
        os.close(file)
