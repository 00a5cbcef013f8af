"""The lock of a BASE: which relay serves it."""

import fcntl
import os
import signal
import time

from d0ctl_wrapper.host import process

TAKEOVER_TIMEOUT_S = 5.0
"""The seconds that a previous relay has to end; after half of them it is killed."""


class Busy(Exception):
    """Raised if the previous relay does not end."""


def take(path: bytes) -> int:
    """Take the lock, and end the relay that has it; return the descriptor that holds it."""
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    start = time.monotonic()
    signaled = 0
    while not _try(file):
        waited = time.monotonic() - start
        if waited > TAKEOVER_TIMEOUT_S:
            os.close(file)
            raise Busy("another relay holds the lock and does not end")
        if waited > TAKEOVER_TIMEOUT_S / 2:
            _end_holder(file, signal.SIGKILL)
        elif not signaled:
            signaled = _end_holder(file, signal.SIGTERM)
        time.sleep(0.02)
    _sign(file)
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
    try:
        pid, started = (int(word) for word in os.pread(file, 100, 0).split())
    except ValueError:
        return 0
    if pid == os.getpid() or not process.is_alive(pid, started):
        return 0
    process.send(pid, number)
    return pid


def _sign(file: int) -> None:
    pid = os.getpid()
    myself = process.inspect(pid)
    assert myself is not None
    os.ftruncate(file, 0)
    os.pwrite(file, b"%d %d\n" % (pid, myself.started), 0)
