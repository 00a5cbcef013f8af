"""The only place that decides which relay serves a BASE."""

import fcntl
import os
import signal
import time

from d0ctl_wrapper.host import process

PATIENCE = 5.0
"""How many seconds a former relay has to give way; after half of them it is killed."""


class Busy(Exception):
    """The former relay does not give way."""


def take(path: bytes) -> int:
    """Take the lock, ending the relay that has it; give the descriptor that holds it."""
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    start = time.monotonic()
    told = 0
    while not _try(file):
        waited = time.monotonic() - start
        if waited > PATIENCE:
            os.close(file)
            raise Busy("another relay has the lock and does not end")
        if waited > PATIENCE / 2:
            _end_holder(file, signal.SIGKILL)
        elif not told:
            told = _end_holder(file, signal.SIGTERM)
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
    """Signal the relay that signed the lock, unless its pid has passed to another.

    Gives the pid, 0 where nobody was told. A second SIGTERM would find an interpreter that is
    just ending, and without a handler.
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
    myself = process.look(pid)
    assert myself is not None
    os.ftruncate(file, 0)
    os.pwrite(file, b"%d %d\n" % (pid, myself.started), 0)
