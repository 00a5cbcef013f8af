"""The only place that sees to it that bytes are on a disk, and knows how a full one fails."""

import errno
import hashlib
import os
from typing import IO, Callable

CHUNK = 1024 * 1024

FULL = (errno.ENOSPC, errno.EDQUOT)


def _never() -> None:
    """Heed nothing."""


def digest(path: bytes, heed: "Callable[[], None]" = _never) -> "tuple[int, str]":
    """Give size and checksum of a file, and see that its bytes are on the disk.

    `heed` is called before each piece, and may raise to give up.
    """
    sha256 = hashlib.sha256()
    size = 0
    with open(path, "rb", buffering=0) as file:
        while True:
            heed()
            chunk = file.read(CHUNK)
            if not chunk:
                break
            size += len(chunk)
            sha256.update(chunk)
        os.fsync(file.fileno())
    return size, "sha256:" + sha256.hexdigest()


def copy_pieces(source: "IO[bytes]", target: int, heed: "Callable[[], None]") -> None:
    """Copy an open file to another; `heed` is called before each piece, and may raise."""
    while True:
        heed()
        chunk = source.read(CHUNK)
        if not chunk:
            return
        write_all(target, chunk)


def write_all(file: int, data: bytes) -> None:
    """Write all of it where an open file stands, or raise OSError if there is no space."""
    while data:
        written = os.write(file, data)
        if not written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        data = data[written:]


def sync(folder: bytes) -> None:
    """See that the names in a folder are on the disk."""
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
