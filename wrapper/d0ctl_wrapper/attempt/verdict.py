"""The only place that judges how a binary ended."""

import os
import signal
from typing import Any, Dict

from d0ctl_wrapper.attempt import exits
from d0ctl_wrapper.protocol.text import last_line, signal_name

_NUMBERS = frozenset(int(number) for number in signal.Signals) | frozenset(
    range(signal.SIGRTMIN, signal.SIGRTMAX + 1)
)


FULL_BELOW = 64 * 1024
"""A disk with fewer free bytes is full."""


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


def with_disk(failed: Failed, folder: bytes) -> Failed:
    """Give a failure as one of a full disk where hardly anything is free on the folder's disk.

    A program that has filled it may not be able to say so, as its log is on the same disk.
    """
    try:
        status = os.statvfs(folder)
    except OSError:
        return failed
    free = status.f_bavail * status.f_frsize
    is_full = free < FULL_BELOW or (status.f_files > 0 and status.f_favail == 0)
    if not is_full or failed.reason not in ("exit-code", "signal"):
        return failed
    return Failed("disk-full", "%s; the disk is full (%d bytes free)" % (failed.detail, free))


def decode(status: int) -> "tuple[int | None, int | None]":
    """Give exit code and signal; a shell, or a script of one, passes on signal n as code 128+n."""
    if os.WIFSIGNALED(status):
        return None, os.WTERMSIG(status)
    code = os.WEXITSTATUS(status)
    return code, code - 128 if code - 128 in _NUMBERS else None


def judge(who: str, code: "int | None", number: "int | None", by_shell: bool, err: bytes) -> None:
    """Raise Failed unless the binary ended well."""
    if number is not None:
        reason = "seg-fault" if number == signal.SIGSEGV else "signal"
        raise Failed(reason, "%s was ended by %s" % (who, signal_name(number)))
    if code == 0:
        return
    said = last_line(err)
    detail = "%s %s" % (who, exits.phrase(code)) + (": " + said if said else "")
    is_missing = by_shell and code in (126, 127)
    raise Failed("software-missing" if is_missing else "exit-code", detail)
