"""How often a node is asked whether it still answers; pure."""

from msgspec import Struct

SHORTEST_S = 5.0
"""From one question to the next on a new link, and while an answer is overdue.

An answer takes a way there and back, a fraction of a second.
"""

LONGEST_S = 40.0
"""The same of a node that has always answered.

Two questions may be lost before a relay that receives nothing ends (after two minutes).
"""

SILENCE_S = 90.0
"""A relay that answers no question for this time counts as gone."""


class HealthCheck(Struct):
    """When a link is asked next; times by the monotonic clock.

    Any frame is an answer. The interval doubles with each answer, and is the shortest again when
    one is overdue.
    """

    asked: float
    interval_s: float = 0.0

    def __post_init__(self) -> None:
        self.interval_s = self.interval_s or SHORTEST_S

    def due(self, heard: float) -> float:
        """Return when to ask again, if nothing more is heard until then."""
        if heard >= self.asked:
            return self.asked + self.interval_s
        return self.asked + SHORTEST_S

    def is_silent(self, now: float, heard: float) -> bool:
        """Return whether the link was asked and has sent nothing for too long."""
        return heard < self.asked and now - heard > SILENCE_S

    def ask(self, now: float, heard: float) -> None:
        """Record that the link is asked now."""
        longer = min(LONGEST_S, 2 * self.interval_s)
        self.interval_s = longer if heard >= self.asked else SHORTEST_S
        self.asked = now
