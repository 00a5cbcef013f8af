"""The verdict on how a binary ended, with the meaning of its exit code."""

import errno
import os
import signal
from typing import Any, Dict

from d0ctl_wrapper.protocol.text import last_line, signal_name

_NUMBERS = frozenset(int(number) for number in signal.Signals) | frozenset(
    range(signal.SIGRTMIN, signal.SIGRTMAX + 1)
)


_SHELLS = {
    124: "timed out",
    126: "command not executable",
    127: "command not found",
}

_SYSEXITS = {
    int(getattr(os, name)): name
    for name in dir(os)
    if name.startswith("EX_") and name not in ("EX_OK", "EX_NOTFOUND")
}

FULL_BELOW = 64 * 1024
"""The free bytes below which a disk is full."""


class Failed(Exception):
    """The failure of an attempt: a reason of the closed list, a sentence, missing inputs."""

    def __init__(self, reason: str, detail: str, missing: "tuple[str, ...]" = ()) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.missing = missing

    def result(self) -> "Dict[str, Any]":
        """Return the fields of the end message."""
        return {
            "outcome": "failed",
            "reason": self.reason,
            "detail": self.detail,
            "missing": list(self.missing),
        }


class MissingOutput(Failed):
    """The failure of a binary that did not make one of its outputs."""

    def __init__(self, name: str, detail: str) -> None:
        super().__init__("missing-output", detail)
        self.name = name


def with_disk(failed: Failed, folder: bytes) -> Failed:
    """Return a failure with reason `disk-full` if the disk of the folder is full, or was.

    The log of a program may be on the same disk, so it may not say so itself. If it does, others
    may have made room since.
    """
    if failed.reason == "exit-code" and failed.detail.endswith(os.strerror(errno.ENOSPC)):
        return Failed("disk-full", failed.detail)
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
    """Return exit code and signal; shells report signal n of a child as code 128+n."""
    if os.WIFSIGNALED(status):
        return None, os.WTERMSIG(status)
    code = os.WEXITSTATUS(status)
    return code, code - 128 if code - 128 in _NUMBERS else None


def judge(who: str, code: "int | None", number: "int | None", by_shell: bool, err: bytes) -> None:
    """Raise Failed unless the binary succeeded."""
    if number is not None:
        reason = "seg-fault" if number == signal.SIGSEGV else "signal"
        raise Failed(reason, "%s was ended by %s" % (who, signal_name(number)))
    if code == 0:
        return
    line = last_line(err)
    detail = "%s %s" % (who, exit_phrase(code)) + (": " + line if line else "")
    is_missing = by_shell and code in (126, 127)
    raise Failed("software-missing" if is_missing else "exit-code", detail)


def exit_name(code: int) -> str:
    """Return the meaning of an exit code; empty if it has none."""
    return _SHELLS.get(code) or _SYSEXITS.get(code, "")


def exit_phrase(code: "int | None") -> str:
    """Return the rest of a sentence on how a program ended."""
    known = exit_name(code) if code is not None else ""
    return "ended with exit code %s" % code + (" (%s)" % known if known else "")
