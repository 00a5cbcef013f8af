"""The only place that decides when a running binary is looked at.

Each watcher says how soon it wants to look again. While nothing changes they want ever less,
so that a binary that runs for days costs its node next to nothing.
"""

import time
from typing import Callable, List

SOONEST = 1.0
"""After so many seconds a binary is looked at for the first time."""

LONGEST = 10.0
"""At least every so many seconds a watcher looks."""

Watcher = Callable[[], float]
"""Looks at a binary, and gives the seconds until its next look; Failed ends the binary."""

Obey = Callable[[], "float | None"]
"""Does what was ordered; gives the seconds until there is more to do of it, None for never."""


class Watch:
    """All that looks at one binary."""

    def __init__(self, watchers: "List[Watcher]", obey: Obey) -> None:
        self._watchers = watchers
        self._due = [time.monotonic() + SOONEST] * len(watchers)
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
        for place, watcher in enumerate(self._watchers):
            if now >= self._due[place]:
                self._due[place] = now + watcher()

    def _attend(self) -> None:
        delay = self._obey()
        self._obey_at = None if delay is None else time.monotonic() + delay


class Ease:
    """How soon to look again: at once after a change, then ever less often."""

    def __init__(self, soonest: float = SOONEST, longest: float = LONGEST) -> None:
        self._soonest, self._longest = soonest, longest
        self._delay = soonest

    def next(self, has_changed: bool) -> float:
        """Give the seconds until the next look."""
        self._delay = self._soonest if has_changed else min(self._longest, self._delay * 1.5)
        return self._delay
