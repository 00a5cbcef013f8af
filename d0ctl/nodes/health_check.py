"""Pure: the only place that says how often a node is asked whether it still answers."""

from dataclasses import dataclass

SHORTEST_S = 5.0
"""From one question to the next on a new link, and while an answer is overdue.

An answer takes a way there and back, a fraction of a second; nobody waits for a shorter one.
"""

LONGEST_S = 40.0
"""The same of a node that has always answered: two questions may be lost on the way before a
relay that hears nothing ends, and each costs one frame both ways and no login.
"""

SILENCE_S = 90.0
"""A relay that says nothing for so long, in spite of questions, counts as gone."""


@dataclass(slots=True)
class Oversight:
    """When a link is asked next; times by the monotonic clock.

    Anything that is heard is an answer. The time doubles with each one; when one is overdue it
    is the shortest again.
    """

    asked: float
    interval: float = 0.0

    def __post_init__(self) -> None:
        self.interval = self.interval or SHORTEST_S

    def due(self, heard: float) -> float:
        """When to ask again, if nothing more is heard until then."""
        if heard >= self.asked:
            return self.asked + self.interval
        return self.asked + SHORTEST_S

    def is_silent(self, now: float, heard: float) -> bool:
        """Whether the link is good for nothing: it was asked and said nothing for too long."""
        return heard < self.asked and now - heard > SILENCE_S

    def ask(self, now: float, heard: float) -> None:
        """It is asked now."""
        longer = min(LONGEST_S, 2 * self.interval)
        self.interval = longer if heard >= self.asked else SHORTEST_S
        self.asked = now
