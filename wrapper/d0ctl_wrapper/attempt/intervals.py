"""The only place that decides when a running binary is looked at.

Each watcher says how soon it wants to look again: the later the older the binary is, and ever
later while nothing changes. To wake up costs more than to look, so they look together.
"""

import time
from typing import Callable, List

SOONEST = 1.0
"""After so many seconds a binary is looked at for the first time."""

LONGEST = 10.0
"""At least every so many seconds a watcher looks."""

EARLY = 0.5
"""When one looks, so does everybody for whom at least this part of the time has passed."""

AGE = 0.1
"""A binary is looked at again after at least this fraction of the time it has run."""

Watcher = Callable[[], float]
"""Looks at a binary, and gives the seconds until its next look; Failed ends the binary."""

Obey = Callable[[], "float | None"]
"""Does what was ordered; gives the seconds until there is more to do of it, None for never."""


class Watch:
    """All that looks at one binary."""

    def __init__(self, watchers: "List[Watcher]", obey: Obey) -> None:
        self._watchers = watchers
        self._due = [time.monotonic() + SOONEST] * len(watchers)
        self._ready = list(self._due)
        self._obey = obey
        self._obey_at: "float | None" = None
        self._attend()

    def delay(self) -> float:
        """Give the seconds until somebody wants to look."""
        due = [*self._due, *([] if self._obey_at is None else [self._obey_at])]
        return max(0.0, min(due) - time.monotonic()) if due else LONGEST

    def look(self, is_told: bool) -> None:
        """Obey what was ordered, and let those look whose time has come."""
        now = time.monotonic()
        if is_told or (self._obey_at is not None and now >= self._obey_at):
            self._attend()
        is_due = now >= min(self._due, default=now)
        for place, watcher in enumerate(self._watchers):
            if is_due and now >= self._ready[place]:
                delay = watcher()
                self._due[place], self._ready[place] = now + delay, now + EARLY * delay

    def _attend(self) -> None:
        delay = self._obey()
        self._obey_at = None if delay is None else time.monotonic() + delay


class Ease:
    """How soon to look again: at once after a change, then ever less often."""

    def __init__(self, soonest: float = SOONEST, longest: float = LONGEST) -> None:
        self._soonest, self._longest = soonest, longest
        self._delay = soonest
        self._began = time.monotonic()

    def next(self, has_changed: bool) -> float:
        """Give the seconds until the next look."""
        soonest = max(self._soonest, AGE * (time.monotonic() - self._began))
        delay = soonest if has_changed else max(soonest, self._delay * 1.5)
        self._delay = min(self._longest, delay)
        return self._delay
