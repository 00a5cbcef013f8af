"""The only place that estimates how long a binary still takes, from how fast it was lately."""

from typing import List, Tuple

MOST = 32
"""How many points of its way are remembered."""

WINDOW = 0.5
"""The pace is that of about this fraction of the time it has run, the latest."""


class Pace:
    """The way of one binary: how much was done when, in seconds of running time."""

    def __init__(self) -> None:
        self._points: "List[Tuple[float, float]]" = [(0.0, 0.0)]

    def add(self, now: float, done: float) -> None:
        """Take note of how much is done; one that begins anew is measured anew."""
        if done < self._points[-1][1]:
            self._points = []
        self._points.append((now, done))
        if len(self._points) > MOST:
            del self._points[1:-1:2]

    def left(self, now: float, total: float) -> "float | None":
        """Give the seconds until `total` is done; None when that can't be told."""
        at, done = self._points[-1]
        since = [point for point in self._points if point[0] >= now * (1.0 - WINDOW)]
        first = since[0] if len(since) > 1 else self._points[0]
        if at <= first[0] or done <= first[1]:
            return None
        rate = (done - first[1]) / (at - first[0])
        return max(0.0, (total - done) / rate - (now - at))
