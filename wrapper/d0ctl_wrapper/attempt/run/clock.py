"""The only place that counts how long a binary has really run: time at a standstill is no time."""

import time
from typing import Set


class Clock:
    """The running time of one binary; it stands still as long as anybody has a reason for it."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._stood = 0.0
        self._stands_since: "float | None" = None
        self._reasons: "Set[str]" = set()

    def now(self) -> float:
        """Give the seconds that the binary has run."""
        until = time.monotonic() if self._stands_since is None else self._stands_since
        return until - self._began - self._stood

    def stop(self, reason: str = "suspended") -> None:
        """Take note that the binary stands still from now on."""
        self._reasons.add(reason)
        if self._stands_since is None:
            self._stands_since = time.monotonic()

    def go_on(self, reason: str = "suspended") -> None:
        """Take note that this is no reason any more; without any the binary runs again."""
        self._reasons.discard(reason)
        if self._stands_since is not None and not self._reasons:
            self._stood += time.monotonic() - self._stands_since
            self._stands_since = None
