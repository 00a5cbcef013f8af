"""Text for people: output of programs, names, sizes and times."""

import os
import re
from typing import List, Tuple

from d0ctl_wrapper.protocol.message import STDERR_LIMIT

TAIL = 16 * 1024
"""The bytes at the end of a log that are read."""

PAUSED = "paused on request"
"""How `why` of a `state` message begins if a person suspended the attempt."""

QUOTED = 300
"""The most characters of a program's output in a sentence."""

MOST_DIGITS = 4
"""One more than the digits that sizes may need to look different; others are written in bytes."""

_ESCAPES = re.compile(
    r"(?s)\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|$)"
    r"|\x1b[ -/]*[0-~]"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def signal_name(number: int) -> str:
    """Return the name of a signal."""
    from signal import Signals  # late: only failures need the names

    try:
        return Signals(number).name
    except ValueError:
        return "signal %d" % number


def clean(text: str) -> str:
    """Remove escape sequences and control characters."""
    if text.isprintable():
        return text
    text = _ESCAPES.sub("", text.replace("\r\n", "\n")).replace("\r", "\n")
    return _CONTROLS.sub("", text)


def one_line(text: str) -> str:
    """Return a cleaned name or sentence on one short line."""
    return " ".join(clean(text).split())[:QUOTED]


def tail(path: bytes) -> str:
    """Return the cleaned end of a log."""
    try:
        with open(path, "rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - TAIL))
            data = file.read(TAIL) if size else b""
    except OSError:
        return ""
    return clean(data.decode("utf-8", "replace").lstrip("\ufffd"))[-STDERR_LIMIT:]


def last_line(path: bytes) -> str:
    """Return the last line of a log that is not blank."""
    return next(iter(last_lines(path, 1)), "")


def last_lines(path: bytes, most: int) -> "List[str]":
    """Return the last lines of a log that are not blank, the last one first."""
    lines = [line for line in tail(path).split("\n") if line.strip()]
    return [one_line(line) for line in lines[: -most - 1 : -1]]


def size(number: float, more_digits: int = 0) -> str:
    """Return a number of bytes with a unit."""
    unit = _UNITS[0]
    for unit in _UNITS:
        if number < 999.5:
            break
        if unit != _UNITS[-1]:
            number /= 1000.0
    digits = 0 if unit == "B" else more_digits + (number < 10)
    return "%.*f %s" % (digits, number, unit)


def sizes_apart(number: float, other: float) -> "Tuple[str, str]":
    """Return two numbers of bytes with units, with as many digits as make them differ."""
    for more_digits in range(MOST_DIGITS):
        texts = size(number, more_digits), size(other, more_digits)
        if texts[0] != texts[1]:
            return texts
    return "%d B" % number, "%d B" % other


def span(seconds: float) -> str:
    """Return a duration with at most two units."""
    if seconds < 9.95:
        return "%.1f s" % seconds
    whole = round(seconds)
    if whole < 60:
        return "%d s" % whole
    if whole < 3600:
        return "%d min" % (whole // 60)
    if whole < 86400:
        return "%d h %02d min" % (whole // 3600, whole % 3600 // 60)
    days, hours = "%d d" % (whole // 86400), whole % 86400 // 3600
    return "%s %d h" % (days, hours) if hours else days


def share(fraction: float) -> str:
    """Return a fraction as a percentage."""
    return "%.0f %%" % (100.0 * fraction)
