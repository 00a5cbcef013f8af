"""The only place where launches wait for free processors."""

import collections

from d0ctl_wrapper.launch import Launch


class Queue:
    """Launches that wait for processors, in the order of their coming."""

    def __init__(self, cpus: int) -> None:
        self._cpus = cpus
        self._waiting: "collections.OrderedDict[int, Launch]" = collections.OrderedDict()

    def __contains__(self, attempt: int) -> bool:
        return attempt in self._waiting

    def add(self, launch: Launch) -> None:
        """Put a launch at the end."""
        self._waiting[launch["attempt"]] = launch

    def drop(self, attempt: int) -> bool:
        """Forget a launch; tell whether it was waiting here."""
        return self._waiting.pop(attempt, None) is not None

    def next(self, used: int) -> "Launch | None":
        """Take the first launch, if it fits beside `used` processors or may run alone."""
        if not self._waiting:
            return None
        attempt = next(iter(self._waiting))
        if used and used + self._waiting[attempt]["cpus"] > self._cpus:
            return None
        return self._waiting.pop(attempt)
