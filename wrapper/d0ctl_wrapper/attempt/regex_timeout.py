"""The only place that breaks off a regular expression which backtracks without end.

While `re` searches it gives signals their turn, so a timer can end it. The timer counts the
wrapper's own processor time: on a busy node nothing is broken off for being slow.
"""

import signal
from contextlib import contextmanager
from typing import Callable, Iterator, Optional, TypeVar

Found = TypeVar("Found")

TICK = 1.0
"""A search that goes on over two ticks of so many seconds of processor time is without hope."""


class TooLong(Exception):
    """A search has been broken off."""


class Patience:
    """How long searches may take; they are made within `watching`."""

    def __init__(self) -> None:
        self._begun = 0
        self._is_searching = False
        self._seen = 0

    @contextmanager
    def watching(self) -> "Iterator[None]":
        """Let the timer tick meanwhile."""
        signal.set_wakeup_fd(-1)  # the relay's, whose number may be another file's by now
        signal.signal(signal.SIGVTALRM, lambda number, frame: self._tick())
        signal.setitimer(signal.ITIMER_VIRTUAL, TICK, TICK)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def search(self, search: "Callable[[str], Optional[Found]]", line: str) -> "Found | None":
        """Give the match of a line; TooLong when that takes for ever."""
        self._begun += 1
        self._is_searching = True
        try:
            return search(line)
        finally:
            self._is_searching = False

    def _tick(self) -> None:
        if self._is_searching and self._seen == self._begun:
            raise TooLong
        self._seen = self._begun
