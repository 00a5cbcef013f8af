"""Progress messages of a binary, with an estimate of the time left.

A message is sent after a change only, and less often for an older binary, so that thousands of
running packages do not flood the control host.
"""

from typing import Any, Callable, Dict, List, Optional, Tuple

from d0ctl_wrapper.attempt.intervals import Backoff
from d0ctl_wrapper.attempt.run.clock import Clock
from d0ctl_wrapper.attempt.run.progress import Reading, Source

SOONEST_S = 2.0
LONGEST_S = 60.0
"""The least and the most seconds between two messages; in between, a fifth of the running time."""

AGE = 0.2
"""The shortest interval between messages, as a fraction of the running time."""

MOST_POINTS = 32
"""The most points of progress that are remembered."""

ETA_WINDOW = 0.5
"""The latest part of the running time from which the rate is taken."""

UNKNOWN: "Dict[str, Any]" = {
    "done": None, "total": None, "percent": None, "line": "", "left": None
}  # fmt: skip
"""The fields of unknown progress."""


class Eta:
    """The estimate of the time left, from the progress of one binary so far."""

    def __init__(self) -> None:
        self._points: "List[Tuple[float, float]]" = [(0.0, 0.0)]

    def add(self, now: float, done: float) -> None:
        """Record how much is done; a lower value starts the estimate again."""
        if done < self._points[-1][1]:
            self._points = []
        self._points.append((now, done))
        if len(self._points) > MOST_POINTS:
            del self._points[1:-1:2]

    def left(self, now: float, total: float) -> "float | None":
        """Return the seconds until `total` is done, or None."""
        at, done = self._points[-1]
        since = [point for point in self._points if point[0] >= now * (1.0 - ETA_WINDOW)]
        first = since[0] if len(since) > 1 else self._points[0]
        if at <= first[0] or done <= first[1]:
            return None
        rate = (done - first[1]) / (at - first[0])
        if rate <= 0:  # so little is done that the rate is below the smallest number
            return None
        return max(0.0, (total - done) / rate - (now - at))


class ChainRuntimes:
    """The expected running times of the binaries of an attempt."""

    def __init__(self, binaries: "List[Dict[str, Any]]") -> None:
        runtimes: "List[Optional[float]]" = [binary["runtime"] for binary in binaries]
        self._known = [runtime or 0.0 for runtime in runtimes]
        is_known = all(runtimes)
        self._weights = self._known if is_known else [1.0] * len(binaries)

    def percent(self, number: int, fraction: "float | None") -> "float | None":
        """Return the finished percentage of the chain, with `fraction` of binary `number` done."""
        if fraction is None:
            return None
        done = sum(self._weights[: number - 1]) + fraction * self._weights[number - 1]
        return round(100.0 * done / sum(self._weights), 2)

    def after(self, number: int) -> float:
        """Return the expected seconds of the binaries after `number`."""
        return sum(self._known[number:])


class ProgressReport:
    """The progress of one binary and its messages."""

    def __init__(
        self, number: int, chain: ChainRuntimes, source: Source, clock: Clock,
        send: "Callable[[Dict[str, Any]], None]",
    ) -> None:  # fmt: skip
        self._number = number
        self._chain = chain
        self._source = source
        self._clock = clock
        self._send = send
        self._eta = Eta()
        self._backoff = Backoff()
        self._latest: "Reading | None" = None
        self._is_sent = True
        self._send_at = 0.0
        self._changes = 0

    def poll(self) -> float:
        """Read the progress, and send it if due; return the seconds until the next check.

        It is not read while no message may be sent: Looping reads it for itself.
        """
        has_changed = self.read()
        now = self._clock.now()
        if not self._is_sent and now >= self._send_at:
            self.send()
        return max(self._backoff.next(has_changed), self._send_at - now)

    def read(self) -> bool:
        """Read new progress; return whether there is any."""
        reading = self._source()
        if reading is None:
            return False
        self._latest, self._is_sent = reading, False
        self._changes += 1
        if reading.done is not None:
            self._eta.add(self._clock.now(), reading.done)
        return True

    def changes(self) -> int:
        """Return how often the progress has changed, up to this moment."""
        self.read()
        return self._changes

    def present(self) -> "Dict[str, Any]":
        """Return the progress at this moment."""
        self.read()
        return self.fields()

    def send(self) -> None:
        """Send the progress."""
        now = self._clock.now()
        self._is_sent = True
        self._send_at = now + min(LONGEST_S, max(SOONEST_S, AGE * now))
        self._send(self.fields())

    def fields(self) -> "Dict[str, Any]":
        """Return the fields of a message; `left` is the seconds to the end of the chain."""
        reading = self._latest or Reading(None, None, "")
        left = None
        if reading.total is not None:
            left = self._eta.left(self._clock.now(), reading.total)
        return {
            "binary": self._number,
            "done": reading.done,
            "total": reading.total,
            "percent": self._chain.percent(self._number, reading.fraction),
            "line": reading.line,
            "left": None if left is None else round(left + self._chain.after(self._number), 1),
        }
