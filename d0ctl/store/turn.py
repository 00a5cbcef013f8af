"""The only place that takes the turn: one writer at a time, in the order in which they came."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from d0ctl.config import Home


@contextmanager
def turn(home: Home) -> Iterator[None]:
    """Have the turn to write; it ends with the block, or with the process."""
    descriptor = os.open(home.turn, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
