"""The only place where launches, and wrappers that are done without, wait for processors."""

import collections
from typing import NamedTuple, Set

from d0ctl_wrapper.protocol.launch import Launch


class Waiting(NamedTuple):
    """What waits: an attempt to be launched, or (without a launch) one that runs already."""

    attempt: int
    cpus: int
    launch: "Launch | None"


class Queue:
    """What waits for processors, in the order of its coming."""

    def __init__(self, cpus: int) -> None:
        self._cpus = cpus
        self._paused: "Set[int]" = set()
        self._waiting: "collections.OrderedDict[int, Waiting]" = collections.OrderedDict()

    def __contains__(self, attempt: int) -> bool:
        return attempt in self._waiting

    def add(self, launch: Launch) -> None:
        """Put a launch at the end."""
        attempt: int = launch["attempt"]
        self._waiting[attempt] = Waiting(attempt, launch["cpus"], launch)

    def add_running(self, attempt: int, cpus: int) -> None:
        """Put an attempt that runs at the end, unless it waits here."""
        self._waiting.setdefault(attempt, Waiting(attempt, cpus, None))

    def drop(self, attempt: int) -> bool:
        """Forget an attempt; tell whether it was waiting here."""
        self._paused.discard(attempt)
        return self._waiting.pop(attempt, None) is not None

    def pause(self, attempt: int) -> None:
        """Pass over a launch from now on, if it waits here."""
        if attempt in self._waiting:
            self._paused.add(attempt)

    def resume(self, attempt: int) -> None:
        """Pass over a launch no more."""
        self._paused.discard(attempt)

    def next(self, used: int) -> "Waiting | None":
        """Take the first that waits, if it fits beside `used` processors or may run alone."""
        attempt = next((one for one in self._waiting if one not in self._paused), None)
        if attempt is None:
            return None
        if used and used + self._waiting[attempt].cpus > self._cpus:
            return None
        return self._waiting.pop(attempt)
