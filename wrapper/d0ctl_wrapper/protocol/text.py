"""The only place that makes a program's own words, and names of all kinds, fit for people."""

import os
import re
import signal

from d0ctl_wrapper.protocol.message import STDERR_LIMIT

TAIL = 16 * 1024
"""How many bytes at the end of a log are looked at."""

QUOTED = 300
"""How many characters of a program's own words a detail holds."""

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"
    r"|\x1b[\]PX^_].*?(?:\x07|\x1b\\|$)"
    r"|\x1b[ -/]*[0-~]"
    r"|\x9b[0-?]*[ -/]*[@-~]",
    re.DOTALL,
)
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)


def signal_name(number: int) -> str:
    """Name a signal as people do."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return "signal %d" % number


def clean(text: str) -> str:
    """Take out of a program's words all that a terminal would obey."""
    text = _ESCAPES.sub("", text.replace("\r\n", "\n")).replace("\r", "\n")
    return _CONTROLS.sub("", text)


def one_line(text: str) -> str:
    """Clean a name or a sentence and bring it on one short line."""
    return " ".join(clean(text).split())[:QUOTED]


def tail(path: bytes) -> str:
    """Read the cleaned end of a log, however long its lines are."""
    try:
        with open(path, "rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(0, size - TAIL))
            data = file.read(TAIL) if size else b""
    except OSError:
        return ""
    return clean(data.decode("utf-8", "replace").lstrip("\ufffd"))[-STDERR_LIMIT:]


def last_line(path: bytes) -> str:
    """Give the last line with something on it."""
    lines = tail(path).split("\n")
    return next((one_line(line) for line in reversed(lines) if line.strip()), "")
