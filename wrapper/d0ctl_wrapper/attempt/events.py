"""Giving a binary a part of its events, and reading which it has done.

InGrid, point 4 of the requests to binaries: a parameter file names the events. What it has done
is a promise of the binary: the part that it names holds these events, whole.
"""

import os
from typing import Any, Dict, Iterator, List, NamedTuple

from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.protocol import ranges
from d0ctl_wrapper.protocol.paths import AttemptFolder, remove, to_path, write
from d0ctl_wrapper.protocol.ranges import Ranges

LONGEST = 100
"""A line of what is done has no more bytes than this."""

CHUNK = 64 * 1024


class Part(NamedTuple):
    """What a former attempt has done of a binary's events, and the file that holds it."""

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
        self.rest = self.all

    def give(self, parts: "List[Part]", names: "List[str]", given: str) -> None:
        """Write down for the binary what is left to do, and the names of the parts that are.

        `given` is noted for the next attempt, should this one be unable to say anything.
        """
        done = ranges.join(one for part in parts for one in part.done)
        self.rest = ranges.without(self.all, done)
        write(self._names[b"events"], ranges.text(self.rest).encode("ascii"))
        write(self._names[b"parts"], to_path("".join(name + "\n" for name in names)))
        write(self._names[b"supplied"], given.encode("ascii"))
        remove(self._names[b"done"])

    def environment(self) -> "Dict[bytes, bytes]":
        """Give the variables by which the binary finds these files."""
        return {
            b"D0CTL_EVENTS": self._names[b"events"],
            b"D0CTL_DONE": self._names[b"done"],
            b"D0CTL_PARTS": self._names[b"parts"],
        }

    def done(self) -> Ranges:
        """Read what the binary has done of what was left to it."""
        return read_done(self._names[b"done"], self.rest)

    def judge(self, who: str) -> None:
        """Raise Failed when a binary that says what it does has not done all."""
        if not os.path.exists(self._names[b"done"]):
            return
        left = ranges.without(self.rest, self.done())
        if left:
            detail = "%s ended well without events %s" % (who, ranges.shown(left))
            raise Failed("verification", detail)


def read_done(path: bytes, within: Ranges) -> Ranges:
    """Read what a binary has appended; nothing when there are too many pieces to be of use."""
    found: Ranges = []
    try:
        for one in ranges.read(_lines(path)):
            found.append(one)
            if len(found) >= 2 * ranges.MOST:
                found = ranges.join(found)
                if len(found) > ranges.MOST:
                    return []
    except OSError:
        return []
    found = ranges.common(ranges.join(found), within)
    return found if len(found) <= ranges.MOST else []


def _lines(path: bytes) -> "Iterator[bytes]":
    """Give the whole lines of a file; what is longer than a line can be is none."""
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
