"""How often a node is pinged; pure."""

from msgspec import Struct

SHORTEST_S = 5.0
"""The interval of pings on a new link, and while an answer is overdue.

An answer takes one round trip, a fraction of a second.
"""

LONGEST_S = 40.0
"""The interval for a node that has always answered.

Two pings may be lost before a relay that receives nothing ends (after two minutes).
"""

SILENCE_S = 90.0
"""A relay that answers no ping for this time counts as gone."""


class HealthCheck(Struct):
    """When a link is pinged next; times by the monotonic clock.

    Any frame counts as an answer. The interval doubles with each answer, and is reset when one
    is overdue.
    """

    asked: float
    interval_s: float = 0.0

    def __post_init__(self) -> None:
        self.interval_s = self.interval_s or SHORTEST_S

    def due(self, last_heard: float) -> float:
        """Return when to ping again, if nothing arrives until then."""
        if last_heard >= self.asked:
            return self.asked + self.interval_s
        return self.asked + SHORTEST_S

    def is_silent(self, now: float, last_heard: float) -> bool:
        """Return whether the link was pinged and has sent nothing for too long."""
        return last_heard < self.asked and now - last_heard > SILENCE_S

    def ask(self, now: float, last_heard: float) -> None:
        """Record that the link is pinged now."""
        longer = min(LONGEST_S, 2 * self.interval_s)
        self.interval_s = longer if last_heard >= self.asked else SHORTEST_S
        self.asked = now
