"""Locks on the home: one writer at a time, in the order of arrival, and one daemon."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from d0ctl import access
from d0ctl.config import Home


@contextmanager
def writer_lock(home: Home) -> Iterator[None]:
    """Hold the lock for writing until the end of the block, or of the process."""
    try:
        descriptor = os.open(home.writer_lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise access.unusable(home.root, error) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def daemon_lock(home: Home) -> Iterator[Callable[[], bool]]:
    """Yield a function that tries to take the daemon's lock, which is released after the block.

    The lock is on the folder itself: it holds whatever happens to the files in it.
    """
    descriptor = os.open(home.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def is_taken() -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    try:
        yield is_taken
    finally:
        os.close(descriptor)
