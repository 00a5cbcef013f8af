"""The progress of a binary (InGrid, Package Wrapper, point 1 of the requests to binaries).

A binary writes it to its progress file. For one that can't, a rule reads it from the log, or
from the growth of an output.
"""

import os
import re
from typing import Any, Callable, Dict, List, NamedTuple, Optional

from d0ctl_wrapper.attempt.regex_timeout import RegexTimedOut, RegexTimeout
from d0ctl_wrapper.attempt.run.logs import LogFollower
from d0ctl_wrapper.protocol.paths import to_path
from d0ctl_wrapper.protocol.text import one_line

TAIL = 4096
"""The bytes at the end of a progress file that are read."""

SHOWN = 200
"""The most characters of a line of progress in a message."""

ENDLESS = "its progress rule backtracks endlessly on a line of the log"
"""The line of progress after an endless search."""

_NUMBER = r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_COUNT = re.compile(r"(%s)\s*(?:/|\bof\b)\s*(%s)" % (_NUMBER, _NUMBER))
_PERCENT = re.compile(r"(%s)\s*%%" % _NUMBER)
_ALONE = re.compile(r"\s*(%s)\s*\Z" % _NUMBER)


class Reading(NamedTuple):
    """The progress of a binary: done and total units if known, and its own line."""

    done: "Optional[float]"
    total: "Optional[float]"
    line: str

    @property
    def fraction(self) -> "float | None":
        """The finished part, from 0 to 1; None if unknown."""
        if self.done is None or not self.total:
            return None
        return min(1.0, self.done / self.total)


Source = Callable[[], "Reading | None"]
"""Return the new progress, or None."""


def read_line(text: str) -> "Reading | None":
    """Read a line of progress: `120/500`, `120 of 500`, `24 %`, `120`, or any other text."""
    line = one_line(text)[:SHOWN]
    if not line:
        return None
    counted, percent, alone = _COUNT.search(line), _PERCENT.search(line), _ALONE.match(line)
    if counted:
        return Reading(float(counted.group(1)), float(counted.group(2)), line)
    if percent:
        return Reading(float(percent.group(1)), 100.0, line)
    return Reading(float(alone.group(1)) if alone else None, None, line)


def source(rule: "Dict[str, Any] | None", file: bytes, logs: "List[bytes]", work: bytes) -> Source:
    """Return the source of the progress of one binary: its rule, or else its progress file."""
    if rule is None:
        return ProgressFile(file)
    if rule["log"] is not None:
        return LogRule(rule["log"], logs)
    return OutputRule(os.path.join(work, to_path(rule["output"] or "")), rule["of"])


class ProgressFile:
    """The file that a binary writes lines to, opening and closing it each time."""

    def __init__(self, path: bytes) -> None:
        self._path = path
        self._seen = (0, 0, 0)

    def __call__(self) -> "Reading | None":
        """Return the last line, if the file has changed."""
        try:
            status = os.stat(self._path)
            seen = (status.st_ino, status.st_size, status.st_mtime_ns)
            if seen == self._seen:
                return None
            with open(self._path, "rb", buffering=0) as file:
                file.seek(max(0, status.st_size - TAIL))
                text = file.read(TAIL).decode("utf-8", "replace")
        except OSError:
            return None
        self._seen = seen
        lines = [line for line in text.split("\n") if line.strip()]
        return read_line(lines[-1]) if lines else None


class LogRule:
    """A regular expression on the log: groups `done` and `total`, or its first two groups."""

    def __init__(self, pattern: str, logs: "List[bytes]") -> None:
        self._pattern = re.compile(pattern)
        self._logs = [LogFollower(path, skips=True) for path in logs]
        self._timeout = RegexTimeout()

    def __call__(self) -> "Reading | None":
        """Return the progress in the last new matching line; an endless search ends the rule."""
        try:
            with self._timeout.watching():
                found = self._last()
        except RegexTimedOut:
            self._logs = []
            return Reading(None, None, ENDLESS)
        return None if found is None else _from_match(found)

    def _last(self) -> "re.Match[str] | None":
        found = None
        for log in self._logs:
            for line in log.lines():
                text = line.decode("utf-8", "replace")
                found = self._timeout.search(self._pattern.search, text) or found
        return found


def _from_match(match: "re.Match[str]") -> Reading:
    line = one_line(match.string)[:SHOWN]
    groups = {**dict(zip(("done", "total"), match.groups())), **match.groupdict()}
    done, total = _number(groups.get("done")), _number(groups.get("total"))
    if groups.get("percent") is not None:
        done, total = _number(groups["percent"]), 100.0
    return Reading(done, total, line)


def _number(text: "str | None") -> "float | None":
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


class OutputRule:
    """The growth of an output, in bytes."""

    def __init__(self, path: bytes, of: "int | None") -> None:
        self._path = path
        self._of = of
        self._size = 0

    def __call__(self) -> "Reading | None":
        """Return the size, if it has changed."""
        try:
            size = os.stat(self._path).st_size
        except OSError:
            return None
        if size == self._size:
            return None
        self._size = size
        return Reading(float(size), None if self._of is None else float(self._of), "")
