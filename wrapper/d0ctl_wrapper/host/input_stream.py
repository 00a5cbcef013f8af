"""The inputs that were delivered to an attempt after its launch: `input_stream` in its folder.

The relay appends to the file, the wrapper reads it. A line without an end comes from a power
cut and is ignored.
"""

import os
from typing import Any, Dict, List, NamedTuple, Set

from d0ctl_wrapper.disk import write_all
from d0ctl_wrapper.protocol.checks import json_text
from d0ctl_wrapper.protocol.paths import AttemptFolder, NodePaths

Entry = Dict[str, Any]

STREAM = b"input_stream"
"""The name of the file."""

CLOSED: Entry = {"closed": True}
"""The last line: no more inputs will come."""


class Delivered(NamedTuple):
    """The names of the delivered inputs, and whether the stream is closed."""

    names: "Set[str]"
    is_closed: bool


def path(folder: AttemptFolder) -> bytes:
    """Return the path of an attempt's file."""
    return folder.file(STREAM)


def delivered(folder: AttemptFolder) -> Delivered:
    """Return what has been delivered to an attempt so far."""
    entries = read(folder, 0)[0]
    names = {entry["name"] for entry in entries if "name" in entry}
    return Delivered(names, any("closed" in entry for entry in entries))


def append(folder: AttemptFolder, entries: "List[Entry]") -> None:
    """Append all lines, or none and raise OSError."""
    file = os.open(path(folder), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        whole = _whole(file)
        os.ftruncate(file, whole)
        os.lseek(file, whole, os.SEEK_SET)
        text = "".join(json_text.encode(entry) + "\n" for entry in entries)
        try:
            write_all(file, text.encode("ascii"))
        except OSError:
            os.ftruncate(file, whole)
            raise
    finally:
        os.close(file)


def read(folder: AttemptFolder, offset: int) -> "tuple[List[Entry], int]":
    """Read the complete lines from `offset` on, and return the offset after them."""
    try:
        with open(path(folder), "rb", buffering=0) as file:
            file.seek(offset)
            data = file.read()
    except FileNotFoundError:
        return [], offset
    end = data.rfind(b"\n") + 1
    return [json_text.decode(line) for line in data[:end].splitlines()], offset + end


def _whole(file: int) -> int:
    """Return the length of the file up to its last line end."""
    size = os.fstat(file).st_size
    end = size
    while end:
        start = max(0, end - 4096)
        found = os.pread(file, end - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


class InputStreams:
    """The input streams of all attempts, as far as the relay has written them."""

    def __init__(self, paths: NodePaths) -> None:
        self._paths = paths
        self._known: "Dict[int, Set[str]]" = {}
        self._closed: "Set[int]" = set()

    def append(self, attempt: int, entries: "List[Entry]", is_last: bool) -> bool:
        """Append new inputs, and return whether there were any; raise OSError on a full disk."""
        self._load(attempt)
        known = self._known[attempt]
        new = [entry for entry in entries if entry["name"] not in known]
        closes = is_last and attempt not in self._closed
        if not new and not closes:
            return False
        append(self._paths.attempt(attempt), [*new, *([CLOSED] if closes else [])])
        known.update(entry["name"] for entry in new)
        if closes:
            self._closed.add(attempt)
        return True

    def is_closed(self, attempt: int) -> bool:
        """Return whether the stream of an attempt is closed."""
        self._load(attempt)
        return attempt in self._closed

    def forget(self, attempt: int) -> None:
        """Forget an attempt that has ended."""
        self._known.pop(attempt, None)
        self._closed.discard(attempt)

    def _load(self, attempt: int) -> None:
        if attempt not in self._known:
            found = delivered(self._paths.attempt(attempt))
            self._known[attempt] = found.names
            if found.is_closed:
                self._closed.add(attempt)
