"""The bounds of a measure: it ends in time, and leaves no process behind."""

import ctypes
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tests.support.waiting import descendants, kill_all

SET_CHILD_SUBREAPER = 36
"""What `prctl` is asked for."""


def adopt_orphans() -> None:
    """Become the parent of processes whose parents end: wrappers and servers outlive theirs."""
    ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_leftovers() -> int:
    """End all processes below this one; return how many there were."""
    count = 0
    while family := descendants(os.getpid()):
        count += len(family)
        kill_all(family)
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    return count


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise TimeoutError inside when it takes longer."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"not within {seconds:g} s")

    if seconds <= 0:
        raise TimeoutError("no time was left for it")
    former = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, former)


def rounds(most: int, within_s: float) -> Iterator[int]:
    """Number rounds: one, and others while one more as long as these fits into the time."""
    began = time.monotonic()
    for number in range(1, most + 1):
        yield number
        if (time.monotonic() - began) / number * (number + 1) > within_s:
            return
