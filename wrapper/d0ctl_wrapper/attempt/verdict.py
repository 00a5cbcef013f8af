"""The verdict on how a binary ended, with the meaning of its exit code."""

import errno
import os
import re
import signal
import time
from typing import Any, Dict

from d0ctl_wrapper.disk import FULL, FULL_BELOW
from d0ctl_wrapper.protocol.paths import AttemptFolder, NodePaths
from d0ctl_wrapper.protocol.text import last_line, last_lines, signal_name, size, span

_NUMBERS = (*range(1, 32), *range(signal.SIGRTMIN, signal.SIGRTMAX + 1))
"""The signals of Linux; the C library keeps two in between for itself."""


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

FULL_RECENTLY_S = 30.0
"""The seconds for which a program may still fail because the disk was full."""

LAST_LINES = 5
"""The lines at the end of a log in which a program says that the disk is full; some say more."""

TOO_LONG = (
    " (its arguments or its environment are too long for the kernel: `{inputs.list}` in `run`, and"
    " $D0CTL_INPUTS, name a file with one input per line; a long value can be an input file)"
)
"""What to do about arguments that are too long."""

_NOT_STARTABLE = (errno.ENOENT, errno.EACCES, errno.ENOTDIR, errno.ENOEXEC, errno.EPERM)
"""The errors of exec for a program that is missing or not executable."""


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


def not_started(who: str, program: str, error: OSError) -> Failed:
    """Return the failure of a binary whose program could not be started."""
    reason = "software-missing" if error.errno in _NOT_STARTABLE else "launch-failed"
    return start_failure(reason, "can't start %s: %s" % (who, program), error)


def start_failure(reason: str, what: str, error: OSError) -> Failed:
    """Return the failure to start a program; it can never succeed if its arguments or environment
    are longer than the kernel takes."""
    detail = "%s: %s" % (what, error.strerror)
    if error.errno == errno.E2BIG:
        return Failed("exit-code", detail + TOO_LONG)
    return Failed("disk-full" if error.errno in FULL else reason, detail)


_OF_WRITING = re.compile("(?i)space|disk|quota|writ|creat|open|sav|stor|copy|flush|I/O|output")
"""The words by which a program says that it failed because of a file that it made."""


def with_disk(failed: Failed, folder: AttemptFolder, err: bytes, ran_s: float) -> Failed:
    """Return a failure with reason `disk-full` if the disk of the folder is full, or was while the
    program ran, for `ran_s` seconds until now.

    A program that meets a full disk may be unable to say so, because its log is there, and others
    may have made room since. One that could say something else since then failed for that.
    """
    if failed.reason not in ("exit-code", "signal"):
        return failed
    said = os.strerror(errno.ENOSPC)
    line = next((line for line in last_lines(err, LAST_LINES) if said in line), "")
    if line:
        note_full(folder.node)
        return Failed("disk-full", failed.detail + ("" if line in failed.detail else ": " + line))
    try:
        status = os.statvfs(folder.work)
    except OSError:
        return failed
    free = status.f_bavail * status.f_frsize
    has_no_inode = status.f_files > 0 and status.f_favail == 0
    if free < FULL_BELOW or has_no_inode:
        note_full(folder.node)
        left = "no inode" if has_no_inode else size(free)
        return Failed("disk-full", "%s; the disk is full (%s free)" % (failed.detail, left))
    age = _full_for(folder.node)
    if age is None or not 0.0 <= age < min(FULL_RECENTLY_S, ran_s) or _has_other_message(err, age):
        return failed
    return Failed("disk-full", "%s; the disk was full %s ago" % (failed.detail, span(age)))


def note_full(node: NodePaths) -> None:
    """Record that the disk of a node is full now, for others whose programs see that."""
    try:
        os.close(os.open(node.full, os.O_WRONLY | os.O_CREAT, 0o600))
        os.utime(node.full)
    except OSError:
        pass


def _full_for(node: NodePaths) -> "float | None":
    """Return for how many seconds the disk has not been seen full; None if it never was."""
    try:
        return time.time() - os.stat(node.full).st_mtime
    except OSError:
        return None


def _has_other_message(err: bytes, within_s: float) -> bool:
    """Return whether a program has recently written a log that is not about files that it made."""
    try:
        is_recent = time.time() - os.stat(err).st_mtime < within_s
    except OSError:
        return False
    lines = last_lines(err, LAST_LINES)
    return is_recent and bool(lines) and not any(_OF_WRITING.search(line) for line in lines)


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
        raise Failed(reason, "%s %s" % (who, signal_phrase(number)))
    if code == 0:
        return
    line = last_line(err)
    detail = "%s %s" % (who, exit_phrase(code)) + (": " + line if line else "")
    if code == 126 and line.endswith(os.strerror(errno.E2BIG)):
        raise Failed("exit-code", detail + TOO_LONG)
    is_missing = by_shell and code in (126, 127)
    raise Failed("software-missing" if is_missing else "exit-code", detail)


_SIGNALS = {
    "SIGABRT": "aborted", "SIGBUS": "bus error", "SIGFPE": "floating-point exception",
    "SIGILL": "illegal instruction", "SIGSEGV": "segmentation fault", "SIGSYS": "bad system call",
    "SIGXCPU": "CPU time limit exceeded", "SIGXFSZ": "file size limit exceeded",
}  # fmt: skip
"""The words for signals that programs get for their own faults, as shells print them."""


def signal_phrase(number: int) -> str:
    """Return the rest of a sentence on how a signal ended a program."""
    name = signal_name(number)
    return "was ended by %s" % name + (" (%s)" % _SIGNALS[name] if name in _SIGNALS else "")


def exit_name(code: int) -> str:
    """Return the meaning of an exit code; empty if it has none."""
    return _SHELLS.get(code) or _SYSEXITS.get(code, "")


def exit_phrase(code: "int | None") -> str:
    """Return the rest of a sentence on how a program ended."""
    known = exit_name(code) if code is not None else ""
    return "ended with exit code %s" % code + (" (%s)" % known if known else "")
