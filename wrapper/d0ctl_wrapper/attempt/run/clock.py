"""The running time of a binary, without suspended time."""

import time
from typing import Set


class Clock:
    """The running time of one binary, which is stopped while there is a reason."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._stood = 0.0
        self._stands_since: "float | None" = None
        self._reasons: "Set[str]" = set()

    def now(self) -> float:
        """Return the seconds that the binary has run."""
        until = time.monotonic() if self._stands_since is None else self._stands_since
        return until - self._began - self._stood

    def stop(self, reason: str = "suspended") -> None:
        """Stop the clock for a reason."""
        self._reasons.add(reason)
        if self._stands_since is None:
            self._stands_since = time.monotonic()

    def resume(self, reason: str = "suspended") -> None:
        """Drop a reason; without any the clock continues."""
        self._reasons.discard(reason)
        if self._stands_since is not None and not self._reasons:
            self._stood += time.monotonic() - self._stands_since
            self._stands_since = None
