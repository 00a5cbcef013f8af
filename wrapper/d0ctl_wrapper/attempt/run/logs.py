"""The only place that follows the logs of a running binary, in bounded memory."""

import os
from typing import Iterator

CHUNK = 256 * 1024
"""How many bytes are read at once."""

LONGEST_LINE = 8192
"""A line is cut after so many bytes."""


class Follower:
    """One log, read on from where it was left; lines are given without their ends."""

    def __init__(self, path: bytes, skips: bool = False) -> None:
        """Follow a log; one that `skips` gives only the end of what has come at once."""
        self._path = path
        self._skips = skips
        self._offset = 0
        self._rest = b""
        self._is_cut = False

    def lines(self, is_over: bool = False) -> "Iterator[bytes]":
        """Give the whole lines that have come; when it `is_over`, a last one without its end."""
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
        """Give whole lines; of one that is too long, its beginning."""
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
