"""The only place that reads and writes `fed`: which inputs reached an attempt after its launch.

The file is the truth about what was delivered. Its relay appends to it, its wrapper reads it; a
line without an end is a power cut's and counts for nothing.
"""

import os
from typing import Any, Dict, List, NamedTuple, Set

from d0ctl_wrapper.disk import write_all
from d0ctl_wrapper.protocol import shape
from d0ctl_wrapper.protocol.paths import AttemptFolder

Entry = Dict[str, Any]

CLOSED: Entry = {"closed": True}
"""The last line: nothing comes any more."""


class Fed(NamedTuple):
    """The names that were delivered, and whether more may come."""

    names: "Set[str]"
    is_closed: bool


def path(folder: AttemptFolder) -> bytes:
    """Give where the file of an attempt lies."""
    return folder.file(b"input_stream")


def look(folder: AttemptFolder) -> Fed:
    """Read what has been delivered to an attempt so far."""
    entries = read(folder, 0)[0]
    names = {entry["name"] for entry in entries if "name" in entry}
    return Fed(names, any("closed" in entry for entry in entries))


def append(folder: AttemptFolder, entries: "List[Entry]") -> None:
    """Add lines, all or none of them; raise OSError when that can't be."""
    file = os.open(path(folder), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        whole = _whole(file)
        os.ftruncate(file, whole)
        os.lseek(file, whole, os.SEEK_SET)
        text = "".join(shape.encode(entry) + "\n" for entry in entries)
        try:
            write_all(file, text.encode("ascii"))
        except OSError:
            os.ftruncate(file, whole)
            raise
    finally:
        os.close(file)


def read(folder: AttemptFolder, offset: int) -> "tuple[List[Entry], int]":
    """Read the whole lines from `offset` on, and give where they end."""
    try:
        with open(path(folder), "rb", buffering=0) as file:
            file.seek(offset)
            data = file.read()
    except FileNotFoundError:
        return [], offset
    end = data.rfind(b"\n") + 1
    return [shape.decode(line) for line in data[:end].splitlines()], offset + end


def _whole(file: int) -> int:
    """Give how long the file is up to its last line end."""
    size = os.fstat(file).st_size
    end = size
    while end:
        start = max(0, end - 4096)
        found = os.pread(file, end - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0
