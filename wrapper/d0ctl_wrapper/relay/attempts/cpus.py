"""The CPUs of a node: the queue for them, and the attempts that need none."""

import collections
from typing import Dict, List, NamedTuple, Set

from d0ctl_wrapper.attempt.guards import cpu_request
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import NodePaths

EPSILON = 1e-6
"""Rounding error of sums of fractions of CPUs."""


def load(launch: Launch) -> float:
    """Return how many CPUs an attempt uses; an I/O-bound one uses a fraction of its CPUs."""
    return float(launch["cpus"] * launch["cpu"] / 100.0)


class WaitingAttempt(NamedTuple):
    """An attempt in the queue: not launched yet, or already running if it has no launch."""

    attempt: int
    cpus: float
    launch: "Launch | None"

    @property
    def gpus(self) -> int:
        """How many GPUs it still needs."""
        return self.launch["gpus"] if self.launch else 0


class CpuQueue:
    """Attempts that wait for CPUs, first come, first served."""

    def __init__(self, cpus: int) -> None:
        self.cpus = cpus
        self._paused: "Set[int]" = set()
        self._waiting: "collections.OrderedDict[int, WaitingAttempt]" = collections.OrderedDict()

    def __contains__(self, attempt: int) -> bool:
        return attempt in self._waiting

    def add(self, launch: Launch) -> None:
        """Add a launch at the end."""
        attempt: int = launch["attempt"]
        self._waiting[attempt] = WaitingAttempt(attempt, load(launch), launch)

    def add_running(self, attempt: int, cpus: float) -> None:
        """Add a running attempt at the end, unless it is in the queue."""
        self._waiting.setdefault(attempt, WaitingAttempt(attempt, cpus, None))

    def drop(self, attempt: int) -> bool:
        """Remove an attempt; return whether it was in the queue."""
        self._paused.discard(attempt)
        return self._waiting.pop(attempt, None) is not None

    def pause(self, attempt: int) -> bool:
        """Skip a running attempt in the queue from now on; remove one that was not launched.

        Return whether it was removed.
        """
        waiting = self._waiting.get(attempt)
        if waiting is None:
            return False
        if waiting.launch is not None:
            return self.drop(attempt)
        self._paused.add(attempt)
        return False

    def resume(self, attempt: int) -> None:
        """Stop skipping an attempt."""
        self._paused.discard(attempt)

    def next(self, used: float, gpus: int) -> "WaitingAttempt | None":
        """Remove and return the first attempt if it fits beside `used` CPUs, or if none are used.

        Attempts that need more than the free `gpus` are skipped.
        """
        able = (
            attempt
            for attempt, waiting in self._waiting.items()
            if attempt not in self._paused and waiting.gpus <= gpus
        )
        attempt = next(able, None)
        if attempt is None:
            return None
        if used and used + self._waiting[attempt].cpus > self.cpus + EPSILON:
            return None
        return self._waiting.pop(attempt)


class CpuFree:
    """The attempts that use no CPUs yet, and how many each will use later."""

    def __init__(self, paths: NodePaths) -> None:
        self._paths = paths
        self._without: "Dict[int, float]" = {}

    def __contains__(self, attempt: int) -> bool:
        return attempt in self._without

    def begin(self, launch: Launch) -> float:
        """Return the CPUs that an attempt takes from its start; raise OSError on a full disk."""
        if not needs_none(launch):
            return load(launch)
        cpu_request.begin_without(self._paths.attempt(launch["attempt"]))
        self._without[launch["attempt"]] = load(launch)
        return 0

    def adopt(self, attempt: int, cpus: float) -> float:
        """Return the CPUs that an attempt of a previous relay takes."""
        if not cpu_request.is_without(self._paths.attempt(attempt)):
            return cpus
        self._without[attempt] = cpus
        return 0

    def requests(self) -> "List[int]":
        """List the attempts that request CPUs."""
        return [
            attempt
            for attempt in self._without
            if cpu_request.is_requested(self._paths.attempt(attempt))
        ]

    def cpus(self, attempt: int) -> float:
        """Return the CPUs that an attempt will take."""
        return self._without[attempt]

    def grant(self, attempt: int) -> float:
        """Grant an attempt its CPUs; return how many; raise OSError on a full disk."""
        cpu_request.grant(self._paths.attempt(attempt))
        return self._without.pop(attempt)

    def forget(self, attempt: int) -> None:
        """Forget an attempt that has ended."""
        self._without.pop(attempt, None)


def needs_none(launch: Launch) -> bool:
    """Return whether an attempt can start without CPUs (InGrid, use case I)."""
    return bool(launch["early"] or launch["ahead"] or launch["delivers"])
