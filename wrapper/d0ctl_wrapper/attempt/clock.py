"""The only place that counts how long a binary has really run: time at a standstill is no time."""

import time


class Clock:
    """The running time of one binary."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._stood = 0.0
        self._stands_since: "float | None" = None

    def now(self) -> float:
        """Give the seconds that the binary has run."""
        until = time.monotonic() if self._stands_since is None else self._stands_since
        return until - self._began - self._stood

    def stop(self) -> None:
        """Take note that the binary stands still from now on."""
        if self._stands_since is None:
            self._stands_since = time.monotonic()

    def go_on(self) -> None:
        """Take note that the binary runs again."""
        if self._stands_since is not None:
            self._stood += time.monotonic() - self._stands_since
            self._stands_since = None
