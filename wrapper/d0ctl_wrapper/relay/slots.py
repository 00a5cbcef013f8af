"""The only place where a relay keeps account of wrappers that take no processors."""

from typing import Dict, List

from d0ctl_wrapper.attempt.guards import slot
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import NodePaths


class Slots:
    """The attempts without processors, and how many each is to take once it gets them."""

    def __init__(self, paths: NodePaths) -> None:
        self._paths = paths
        self._without: "Dict[int, int]" = {}

    def __contains__(self, attempt: int) -> bool:
        return attempt in self._without

    def begin(self, launch: Launch) -> int:
        """Give the processors that an attempt takes from its start on; raise OSError if that it
        takes none can't be noted."""
        if not needs_none(launch):
            return int(launch["cpus"])
        slot.take_none(self._paths.attempt(launch["attempt"]))
        self._without[launch["attempt"]] = launch["cpus"]
        return 0

    def adopt(self, attempt: int, cpus: int) -> int:
        """Give the processors that an attempt of a former relay takes."""
        if not slot.is_without(self._paths.attempt(attempt)):
            return cpus
        self._without[attempt] = cpus
        return 0

    def asking(self) -> "List[int]":
        """List the attempts that ask for processors."""
        return [one for one in self._without if slot.is_asked(self._paths.attempt(one))]

    def cpus(self, attempt: int) -> int:
        """Give the processors that an attempt is to take."""
        return self._without[attempt]

    def grant(self, attempt: int) -> int:
        """Let an attempt take its processors from now on; give how many; raise OSError if that
        can't be noted."""
        slot.grant(self._paths.attempt(attempt))
        return self._without.pop(attempt)

    def forget(self, attempt: int) -> None:
        """Let go of an attempt that has ended."""
        self._without.pop(attempt, None)


def needs_none(launch: Launch) -> bool:
    """Tell whether an attempt can start without processors (InGrid, use case I)."""
    return bool(launch["early"] or launch["ahead"] or launch["delivers"])
