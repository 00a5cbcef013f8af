"""Following the logs of a running binary, in bounded memory."""

import os
from typing import Iterator

CHUNK = 256 * 1024
"""The bytes read at once."""

LONGEST_LINE = 8192
"""The bytes after which a line is cut."""


class LogFollower:
    """The new lines of one log, without their line ends."""

    def __init__(self, path: bytes, skips: bool = False) -> None:
        """Follow a log; with `skips` only the last part of a large addition is read."""
        self._path = path
        self._skips = skips
        self._offset = 0
        self._rest = b""
        self._is_cut = False

    def lines(self, is_over: bool = False) -> "Iterator[bytes]":
        """Yield the new complete lines; if `is_over`, also a last one without a line end."""
        try:
            file = os.open(self._path, os.O_RDONLY)
        except OSError:
            return
        try:
            self._skip(os.fstat(file).st_size)
            while True:
                data = os.pread(file, CHUNK, self._offset)
                self._offset += len(data)
                for line in self._split(data):
                    yield line
                if len(data) < CHUNK:
                    break
        finally:
            os.close(file)
        if is_over and self._rest:
            rest, self._rest = self._rest, b""
            yield rest

    def _skip(self, size: int) -> None:
        if self._skips and size - self._offset > CHUNK:
            self._offset = size - CHUNK
            self._rest, self._is_cut = b"", True

    def _split(self, data: bytes) -> "Iterator[bytes]":
        """Yield complete lines; only the beginning of a long one."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            whole = (self._rest + line)[:LONGEST_LINE]
            was_cut, self._rest, self._is_cut = self._is_cut, b"", False
            if not was_cut:
                yield whole
        self._hold(rest)

    def _hold(self, rest: bytes) -> None:
        if not self._is_cut:
            self._rest = (self._rest + rest)[:LONGEST_LINE]
