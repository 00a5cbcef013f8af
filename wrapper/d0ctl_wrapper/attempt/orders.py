"""The only place that knows what a relay may ask of a wrapper, and how: files, and a signal.

A file holds what is wanted now, so that an order given twice, or to a wrapper that looks
late, means the same. SIGUSR1 says that one has changed; SIGTERM is the order to end.
"""

import os
from typing import Any, Dict, NamedTuple

from d0ctl_wrapper.protocol import shape
from d0ctl_wrapper.protocol.paths import AttemptFolder, read, remove, write

KILL, PAUSE = b"kill", b"pause"

DEFAULT_GRACE = 10.0
"""How many seconds an attempt has after TERM, when the disk was too full to note it."""

PAUSE_GRACE = 10.0
"""How many seconds a binary has to pause by itself, when nobody has said."""

_KILL = shape.record(
    {"grace": shape.number},
    {"partial": (shape.boolean, False), "partial_grace": (shape.number, 0.0)},
)
_PAUSE = shape.record({"grace": shape.number})


class Kill(NamedTuple):
    """An end asked for: how many seconds after TERM it is killed, and whether to keep its outputs.

    With `partial` the binary has `partial_grace` seconds before TERM to end by itself.
    """

    grace: float
    partial: bool
    partial_grace: float = 0.0


def ask_kill(folder: AttemptFolder, kill: Kill) -> None:
    """Note for a wrapper how it is to end; SIGTERM tells it to."""
    _put(folder, KILL, dict(kill._asdict()))


def ask_pause(folder: AttemptFolder, grace: float) -> None:
    """Note for a wrapper that its binaries are to stand still."""
    _put(folder, PAUSE, {"grace": grace})


def ask_resume(folder: AttemptFolder) -> None:
    """Note for a wrapper that its binaries may go on."""
    remove(folder.file(PAUSE))


def kill_asked(folder: AttemptFolder) -> "Kill | None":
    """Read how an attempt is to end; None while nobody has asked for its end."""
    if not os.path.exists(folder.file(KILL)):
        return None
    found = _get(folder, KILL, _KILL)
    return Kill(**found) if found else Kill(DEFAULT_GRACE, False)


def pause_asked(folder: AttemptFolder) -> "float | None":
    """Read how many seconds binaries have to pause by themselves; None when they may run."""
    if not os.path.exists(folder.file(PAUSE)):
        return None
    found = _get(folder, PAUSE, _PAUSE)
    return float(found["grace"]) if found else PAUSE_GRACE


def _put(folder: AttemptFolder, name: bytes, value: "Dict[str, Any]") -> None:
    """Write an order; on a full disk an empty file has to say that there is one."""
    path = folder.file(name)
    try:
        write(path + b".aside", shape.encode(value).encode("ascii"))
        os.rename(path + b".aside", path)
    except OSError:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
        raise


def _get(folder: AttemptFolder, name: bytes, check: shape.Check) -> "Dict[str, Any] | None":
    """Read an order; None when a full disk left nothing legible of it."""
    try:
        found: "Dict[str, Any]" = check(shape.decode(read(folder.file(name))))
    except (OSError, ValueError):
        return None
    return found
