"""A timeout for regular expressions that backtrack without end.

`re` handles signals during a search, so a timer can stop it. The timer counts the wrapper's own
CPU time: a busy node does not cause timeouts.
"""

import signal
from contextlib import contextmanager
from typing import Callable, Iterator, Optional, TypeVar

Found = TypeVar("Found")

TICK_S = 1.0
"""The seconds of CPU time of a tick; a search that lasts for two ticks is stopped."""


class RegexTimedOut(Exception):
    """A search was stopped."""


class RegexTimeout:
    """The timer for searches, which runs within `watching`."""

    def __init__(self) -> None:
        self._begun = 0
        self._is_searching = False
        self._seen = 0

    @contextmanager
    def watching(self) -> "Iterator[None]":
        """Run the timer."""
        signal.signal(signal.SIGVTALRM, lambda number, frame: self._tick())
        signal.setitimer(signal.ITIMER_VIRTUAL, TICK_S, TICK_S)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def search(self, search: "Callable[[str], Optional[Found]]", line: str) -> "Found | None":
        """Return the match of a line; raise RegexTimedOut for an endless search."""
        self._begun += 1
        self._is_searching = True
        try:
            return search(line)
        finally:
            self._is_searching = False

    def _tick(self) -> None:
        if self._is_searching and self._seen == self._begun:
            raise RegexTimedOut
        self._seen = self._begun
