"""The intervals at which watchers check a running binary.

Each watcher returns the seconds until its next check: more for an older binary, and ever more
while nothing changes. Waking up costs more than a check, so watchers check together.
"""

import time
from typing import Callable, List

SOONEST_S = 1.0
"""The seconds until the first check of a binary."""

LONGEST_S = 10.0
"""The most seconds between two checks."""

EARLY = 0.5
"""The fraction of its interval after which a watcher checks along with another."""

AGE = 0.1
"""The shortest interval, as a fraction of the time that the binary has run."""

Watcher = Callable[[], float]
"""Check a binary and return the seconds until the next check; Failed ends the binary."""

Obey = Callable[[], "float | None"]
"""Obey orders; return the seconds until there is more to do, or None."""


class Watch:
    """The watchers of one binary."""

    def __init__(self, watchers: "List[Watcher]", obey: Obey) -> None:
        self._watchers = watchers
        self._due = [time.monotonic() + SOONEST_S] * len(watchers)
        self._ready = list(self._due)
        self._obey = obey
        self._obey_at: "float | None" = None
        self._run_orders()

    def delay(self) -> float:
        """Return the seconds until the next check."""
        due = [*self._due, *([] if self._obey_at is None else [self._obey_at])]
        return max(0.0, min(due) - time.monotonic()) if due else LONGEST_S

    def poll(self, is_signaled: bool) -> None:
        """Obey orders, and let the due watchers check."""
        now = time.monotonic()
        if is_signaled or (self._obey_at is not None and now >= self._obey_at):
            self._run_orders()
        is_due = now >= min(self._due, default=now)
        for index, watcher in enumerate(self._watchers):
            if is_due and now >= self._ready[index]:
                delay = watcher()
                self._due[index], self._ready[index] = now + delay, now + EARLY * delay

    def _run_orders(self) -> None:
        delay = self._obey()
        self._obey_at = None if delay is None else time.monotonic() + delay


class Backoff:
    """The interval of a watcher: short after a change, then ever longer."""

    def __init__(self, soonest: float = SOONEST_S, longest: float = LONGEST_S) -> None:
        self._soonest, self._longest = soonest, longest
        self._delay = soonest
        self._began = time.monotonic()

    def next(self, has_changed: bool) -> float:
        """Return the seconds until the next check."""
        soonest = max(self._soonest, AGE * (time.monotonic() - self._began))
        delay = soonest if has_changed else max(soonest, self._delay * 1.5)
        self._delay = min(self._longest, delay)
        return self._delay
