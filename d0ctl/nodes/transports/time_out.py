"""Time-outs for operations of paramiko, which has some without."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Watch:
    """Breaks off a connection when an operation on it makes no progress.

    paramiko has operations without a time-out, and a blocked write of one thread blocks all.
    """

    def __init__(self, limit: float, break_off: Callable[[], None]) -> None:
        self.limit = limit
        self.is_expired = False
        self._break_off = break_off
        self._deadlines: dict[object, float] = {}
        self._needed = threading.Event()
        self._stopped = threading.Event()
        threading.Thread(target=self._run, name="watch", daemon=True).start()

    @contextmanager
    def over(self) -> Iterator[Callable[[], None]]:
        """Watch the block, which calls the yielded function whenever it makes progress."""
        token = object()

        def get_on() -> None:
            self._deadlines[token] = time.monotonic() + self.limit

        get_on()
        if not self._needed.is_set():
            self._needed.set()
        try:
            yield get_on
        finally:
            del self._deadlines[token]

    def stop(self) -> None:
        """Stop watching."""
        self._stopped.set()
        self._needed.set()

    def _run(self) -> None:
        """Look at the deadlines as long as there are any; hundreds of idle links cost nothing."""
        while self._needed.wait() and not self._stopped.wait(self.limit / 10):
            self._needed.clear()
            deadlines = list(self._deadlines.values())
            if any(time.monotonic() > deadline for deadline in deadlines):
                self.is_expired = True
                self._break_off()
                return
            if deadlines or self._stopped.is_set():
                self._needed.set()
