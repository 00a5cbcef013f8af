"""The lock of a BASE: which relay serves it."""

import fcntl
import os
import signal
import time
from typing import Tuple

from d0ctl_wrapper.host import process
from d0ctl_wrapper.protocol.checks import shape

TAKEOVER_TIMEOUT_S = 5.0
"""The seconds that a previous relay has to end; after half of them it is killed."""


class Busy(Exception):
    """Raised if the previous relay does not end."""


class DrivenByOther(Exception):
    """Raised if another driver is in contact; its argument is the name of that driver."""


class Superseded(Exception):
    """Raised for the home of a driver if another one was restored later; names the last driver."""


def take(path: bytes, driver: str, restored: float = 0.0) -> int:
    """Take the lock, and end the relay that has it; return the descriptor that holds it.

    The relay of another driver is left alone: it ends by itself once its driver is silent. A
    driver whose home was last `restored`, in seconds since the epoch, before that of one that was
    here is refused: it would delete what is newer than its home.
    """
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    start = time.monotonic()
    signaled = 0
    while not _try(file):
        other = _driver_of_holder(file)
        if driver and other and other != driver:
            os.close(file)
            raise DrivenByOther(other)
        waited = time.monotonic() - start
        if waited > TAKEOVER_TIMEOUT_S:
            os.close(file)
            raise Busy("another relay holds the lock and does not end")
        if waited > TAKEOVER_TIMEOUT_S / 2:
            _end_holder(file, signal.SIGKILL)
        elif not signaled:
            signaled = _end_holder(file, signal.SIGTERM)
        time.sleep(0.02)
    _, last, before = _signature(file)
    if restored < before:
        os.close(file)
        raise Superseded(last)
    _sign(file, driver, restored)
    return file


def _try(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _end_holder(file: int, number: int) -> int:
    """Signal the relay that signed the lock, unless its pid belongs to another process now.

    Returns the pid, 0 if there was none. A second SIGTERM would reach an interpreter that is
    ending and has no handler.
    """
    pid = _holder(file)
    if pid:
        process.send(pid, number)
    return pid


def _holder(file: int) -> int:
    """Return the pid of the living relay that signed the lock, 0 if there is none."""
    try:
        pid, started = (int(word) for word in _signature(file)[0].split())
    except ValueError:
        return 0
    return pid if pid != os.getpid() and process.is_alive(pid, started) else 0


def _driver_of_holder(file: int) -> str:
    """Return the driver of the living relay that signed the lock, or nothing."""
    driver = _signature(file)[1]
    return driver if _holder(file) else ""


def _signature(file: int) -> "Tuple[bytes, str, float]":
    """Return the lines of the lock: process, name of the driver, when its home was restored."""
    lines = [*os.pread(file, 4 * shape.TEXT, 0).split(b"\n"), b"", b""]
    try:
        restored = float(lines[2])
    except ValueError:
        restored = 0.0
    return lines[0], lines[1].decode("utf-8", "replace"), restored


def _sign(file: int, driver: str, restored: float) -> None:
    pid = os.getpid()
    myself = process.inspect(pid)
    assert myself is not None
    os.ftruncate(file, 0)
    lines = "%d %d\n%s\n%r\n" % (pid, myself.started, driver, restored)
    os.pwrite(file, lines.encode("utf-8"), 0)
