"""The only place that judges how a binary ended, and that quotes what it printed."""

import os
import re
import signal
from typing import Any, Dict

from d0ctl_wrapper.message import STDERR_LIMIT

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
_NUMBERS = frozenset(int(number) for number in signal.Signals) | frozenset(
    range(signal.SIGRTMIN, signal.SIGRTMAX + 1)
)


class Failed(Exception):
    """The attempt failed: a reason of the closed list, one sentence, the inputs not there."""

    def __init__(self, reason: str, detail: str, missing: "tuple[str, ...]" = ()) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.missing = missing

    def result(self) -> "Dict[str, Any]":
        """Give what the end message says of it."""
        return {
            "outcome": "failed",
            "reason": self.reason,
            "detail": self.detail,
            "missing": list(self.missing),
        }


def decode(status: int, by_shell: bool) -> "tuple[int | None, int | None]":
    """Give exit code and signal; a shell passes on its child's signal n as exit code 128+n."""
    if os.WIFSIGNALED(status):
        return None, os.WTERMSIG(status)
    code = os.WEXITSTATUS(status)
    return code, code - 128 if by_shell and code - 128 in _NUMBERS else None


def judge(who: str, code: "int | None", number: "int | None", by_shell: bool, err: bytes) -> None:
    """Raise Failed unless the binary ended well."""
    if number is not None:
        reason = "seg-fault" if number == signal.SIGSEGV else "signal"
        raise Failed(reason, "%s was ended by %s" % (who, signal_name(number)))
    if code == 0:
        return
    said = last_line(err)
    detail = "%s ended with exit code %s" % (who, code) + (": " + said if said else "")
    is_missing = by_shell and code in (126, 127)
    raise Failed("software-missing" if is_missing else "exit-code", detail)


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
