"""Orders of a relay to a wrapper: files and signals.

A file has the present order, so an order given twice, or read late, means the same. SIGUSR1
signals a change; SIGTERM is the order to end.
"""

import os
from typing import Any, Dict, NamedTuple

from d0ctl_wrapper.protocol.checks import json_text, shape
from d0ctl_wrapper.protocol.paths import AttemptFolder, read, remove, write

KILL, PAUSE = b"kill", b"pause"

DEFAULT_GRACE_S = 10.0
"""The seconds from TERM to KILL if a full disk kept the order from being written."""

PAUSE_GRACE_S = 10.0
"""The seconds that a binary has to pause by itself if the order has none."""

_KILL = shape.record(
    {"grace": shape.number},
    {"partial": (shape.boolean, False), "partial_grace": (shape.number, 0.0)},
)
_PAUSE = shape.record({"grace": shape.number})


class Kill(NamedTuple):
    """An order to end: the seconds from TERM to KILL, and whether to keep outputs.

    With `partial` the binary has `partial_grace` seconds before TERM to end by itself.
    """

    grace: float
    partial: bool
    partial_grace: float = 0.0


def ask_kill(folder: AttemptFolder, kill: Kill) -> None:
    """Write for a wrapper how to end; the order itself is SIGTERM."""
    _put(folder, KILL, dict(kill._asdict()))


def ask_pause(folder: AttemptFolder, grace: float) -> None:
    """Write the order to suspend binaries."""
    _put(folder, PAUSE, {"grace": grace})


def ask_resume(folder: AttemptFolder) -> None:
    """Remove the order to suspend binaries."""
    remove(folder.file(PAUSE))


def kill_asked(folder: AttemptFolder) -> "Kill | None":
    """Return the order to end, or None."""
    if not os.path.exists(folder.file(KILL)):
        return None
    found = _get(folder, KILL, _KILL)
    return Kill(**found) if found else Kill(DEFAULT_GRACE_S, False)


def pause_asked(folder: AttemptFolder) -> "float | None":
    """Return the seconds that binaries have to pause by themselves; None without an order."""
    if not os.path.exists(folder.file(PAUSE)):
        return None
    found = _get(folder, PAUSE, _PAUSE)
    return float(found["grace"]) if found else PAUSE_GRACE_S


def _put(folder: AttemptFolder, name: bytes, value: "Dict[str, Any]") -> None:
    """Write an order; on a full disk an empty file stands for it."""
    path = folder.file(name)
    try:
        write(path + b".aside", json_text.encode(value).encode("ascii"))
        os.rename(path + b".aside", path)
    except OSError:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
        raise


def _get(folder: AttemptFolder, name: bytes, check: shape.Check) -> "Dict[str, Any] | None":
    """Read an order; None if a full disk left an empty file."""
    try:
        found: "Dict[str, Any]" = check(json_text.decode(read(folder.file(name))))
    except (OSError, ValueError):
        return None
    return found
