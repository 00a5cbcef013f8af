"""The events of a binary: those left to do, and those done.

InGrid, point 4 of the requests to binaries: a parameter file names the events. The binary promises
that its part has all events that it reports as done.
"""

import os
from typing import Any, Dict, Iterator, List, NamedTuple

from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.protocol.checks import ranges
from d0ctl_wrapper.protocol.checks.ranges import Ranges
from d0ctl_wrapper.protocol.paths import AttemptFolder, remove, to_path, write

LONGEST = 100
"""The most bytes of a line in the file of finished events."""

CHUNK = 64 * 1024


class Part(NamedTuple):
    """The finished events of a previous attempt, and the file with them."""

    attempt: int
    done: Ranges
    path: bytes
    size: "int | None"
    checksum: "str | None"


class Events:
    """The events of one binary in one attempt."""

    def __init__(self, folder: AttemptFolder, number: int, asked: "Dict[str, Any]") -> None:
        self._names = {
            end: folder.file(b"%d.%s" % (number, end))
            for end in (b"events", b"done", b"parts", b"supplied")
        }
        self.number = number
        self.all: Ranges = [(asked["first"], asked["last"])]
        self.part: str = asked["part"]
        self.left = self.all

    def write(self, parts: "List[Part]", names: "List[str]", supplied: str) -> None:
        """Write for the binary the events left to do, and the names of the existing parts.

        `supplied` is recorded for the next attempt, in case the wrapper dies.
        """
        done = ranges.join(pair for part in parts for pair in part.done)
        self.left = ranges.without(self.all, done)
        write(self._names[b"events"], ranges.text(self.left).encode("ascii"))
        write(self._names[b"parts"], to_path("".join(name + "\n" for name in names)))
        write(self._names[b"supplied"], supplied.encode("ascii"))
        remove(self._names[b"done"])

    def environment(self) -> "Dict[bytes, bytes]":
        """Return the variables that name these files for the binary."""
        return {
            b"D0CTL_EVENTS": self._names[b"events"],
            b"D0CTL_DONE": self._names[b"done"],
            b"D0CTL_PARTS": self._names[b"parts"],
        }

    def done(self) -> Ranges:
        """Return the finished events."""
        return read_done(self._names[b"done"], self.left)

    def judge(self, who: str) -> None:
        """Raise Failed if a binary that reports its events has not done all."""
        if not os.path.exists(self._names[b"done"]):
            return
        missed = ranges.without(self.left, self.done())
        if missed:
            detail = "%s succeeded without doing events %s" % (who, ranges.summary(missed))
            raise Failed("verification", detail)


def read_done(path: bytes, within: Ranges) -> Ranges:
    """Read the events that a binary has reported; empty if there are too many ranges."""
    found: Ranges = []
    try:
        for pair in ranges.read(_lines(path)):
            found.append(pair)
            if len(found) >= 2 * ranges.MOST:
                found = ranges.join(found)
                if len(found) > ranges.MOST:
                    return []
    except OSError:
        return []
    found = ranges.common(ranges.join(found), within)
    return found if len(found) <= ranges.MOST else []


def _lines(path: bytes) -> "Iterator[bytes]":
    """Yield the complete lines of a file; longer ones are skipped."""
    with open(path, "rb", buffering=CHUNK) as file:
        while True:
            line = file.readline(LONGEST)
            if not line.endswith(b"\n"):
                if len(line) < LONGEST:
                    return
                while line and not line.endswith(b"\n"):
                    line = file.readline(LONGEST)
                continue
            yield line[:-1]
