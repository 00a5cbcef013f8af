"""The only place where launches wait for free processors."""

import collections
from typing import Set

from d0ctl_wrapper.launch import Launch


class Queue:
    """Launches that wait for processors, in the order of their coming."""

    def __init__(self, cpus: int) -> None:
        self._cpus = cpus
        self._paused: "Set[int]" = set()
        self._waiting: "collections.OrderedDict[int, Launch]" = collections.OrderedDict()

    def __contains__(self, attempt: int) -> bool:
        return attempt in self._waiting

    def add(self, launch: Launch) -> None:
        """Put a launch at the end."""
        self._waiting[launch["attempt"]] = launch

    def drop(self, attempt: int) -> bool:
        """Forget a launch; tell whether it was waiting here."""
        self._paused.discard(attempt)
        return self._waiting.pop(attempt, None) is not None

    def pause(self, attempt: int) -> None:
        """Pass over a launch from now on, if it waits here."""
        if attempt in self._waiting:
            self._paused.add(attempt)

    def resume(self, attempt: int) -> None:
        """Pass over a launch no more."""
        self._paused.discard(attempt)

    def next(self, used: int) -> "Launch | None":
        """Take the first launch, if it fits beside `used` processors or may run alone."""
        attempt = next((one for one in self._waiting if one not in self._paused), None)
        if attempt is None:
            return None
        if used and used + self._waiting[attempt]["cpus"] > self._cpus:
            return None
        return self._waiting.pop(attempt)
