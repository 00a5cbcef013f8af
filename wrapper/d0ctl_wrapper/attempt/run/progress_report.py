"""The only place that decides when the progress of a binary is worth a message.

A message goes out on a change only, the sooner after the last one the younger the binary is;
so many thousands of running packages are no storm.
"""

from typing import Any, Callable, Dict, List, Optional

from d0ctl_wrapper.attempt.intervals import Ease
from d0ctl_wrapper.attempt.run.clock import Clock
from d0ctl_wrapper.attempt.run.eta import Pace
from d0ctl_wrapper.attempt.run.progress import Reading, Source

SOONEST = 2.0
LONGEST = 60.0
"""From one message to the next it takes a fifth of the running time, within these seconds."""

AGE = 0.2


UNKNOWN: "Dict[str, Any]" = {
    "done": None, "total": None, "percent": None, "line": "", "left": None
}  # fmt: skip
"""The fields of a progress that nobody knows."""


class Chain:
    """What is known beforehand of the binaries of an attempt: how long each takes."""

    def __init__(self, binaries: "List[Dict[str, Any]]") -> None:
        runtimes: "List[Optional[float]]" = [binary["runtime"] for binary in binaries]
        self._known = [runtime or 0.0 for runtime in runtimes]
        is_known = all(runtimes)
        self._weights = self._known if is_known else [1.0] * len(binaries)

    def percent(self, number: int, fraction: "float | None") -> "float | None":
        """Give how much of the whole chain is done, when `fraction` of binary `number` is."""
        if fraction is None:
            return None
        done = sum(self._weights[: number - 1]) + fraction * self._weights[number - 1]
        return round(100.0 * done / sum(self._weights), 2)

    def after(self, number: int) -> float:
        """Give the seconds that the binaries after `number` take, as far as that is known."""
        return sum(self._known[number:])


class Headway:
    """The progress of one binary, as it is told."""

    def __init__(
        self, number: int, chain: Chain, source: Source, clock: Clock,
        tell: "Callable[[Dict[str, Any]], None]",
    ) -> None:  # fmt: skip
        self._number = number
        self._chain = chain
        self._source = source
        self._clock = clock
        self._tell = tell
        self._pace = Pace()
        self._ease = Ease()
        self._latest: "Reading | None" = None
        self._is_told = True
        self._tell_at = 0.0
        self.news = 0

    def look(self) -> float:
        """Read the progress, and tell of it when it is time; the seconds until the next look."""
        has_changed = self.read()
        now = self._clock.now()
        if not self._is_told and now >= self._tell_at:
            self.tell()
        delay = self._ease.next(has_changed)
        return delay if self._is_told else max(delay, self._tell_at - now)

    def read(self) -> bool:
        """Take note of what is new; tell whether anything is."""
        reading = self._source()
        if reading is None:
            return False
        self._latest, self._is_told = reading, False
        self.news += 1
        if reading.done is not None:
            self._pace.add(self._clock.now(), reading.done)
        return True

    def present(self) -> "Dict[str, Any]":
        """Give what is known at this moment."""
        self.read()
        return self.fields()

    def tell(self) -> None:
        """Send what is known."""
        now = self._clock.now()
        self._is_told = True
        self._tell_at = now + min(LONGEST, max(SOONEST, AGE * now))
        self._tell(self.fields())

    def fields(self) -> "Dict[str, Any]":
        """Give what a message says of it: `left` is the seconds to the end of the chain."""
        reading = self._latest or Reading(None, None, "")
        left = None
        if reading.total is not None:
            left = self._pace.left(self._clock.now(), reading.total)
        return {
            "binary": self._number,
            "done": reading.done,
            "total": reading.total,
            "percent": self._chain.percent(self._number, reading.fraction),
            "line": reading.line,
            "left": None if left is None else round(left + self._chain.after(self._number), 1),
        }
