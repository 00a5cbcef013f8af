"""How many packages ended in each period, as a plot of one to three lines."""

from collections import deque
from collections.abc import Iterable

from d0ctl.show.drawing.signs import Glyphs
from d0ctl.show.drawing.spans import Line

STRETCH_S = 10
"""The period of a column of the plot."""

MINUTE = 60 // STRETCH_S
"""How many periods a minute has."""

KEPT = 400
"""How many periods are kept."""


class Rates:
    """Ends by period; a clock that jumps starts another period and breaks nothing."""

    def __init__(self) -> None:
        self._ends: deque[tuple[int, int]] = deque(maxlen=KEPT)
        self._total: int | None = None

    def recall(self, ends: Iterable[tuple[float, int]]) -> None:
        """Add how many ended at some times before the first read."""
        for at, number in sorted(ends):
            self._add(int(at // STRETCH_S), number)

    def note(self, at: float, total: int) -> None:
        """Record the total number of ends so far."""
        grown = 0 if self._total is None else total - self._total
        self._total = total
        if grown > 0:
            self._add(int(at // STRETCH_S), grown)

    def columns(self, number: int, at: float) -> list[int]:
        """Return the ends of the latest periods, the present one last."""
        last = max([int(at // STRETCH_S), *(stretch for stretch, _ in list(self._ends)[-1:])])
        found = [0] * number
        for stretch, ends in self._ends:
            minute = number - 1 - (last - stretch)
            if 0 <= minute < number:
                found[minute] += ends
        return found

    def minutes(self, number: int, at: float) -> list[int]:
        """Return how many ended in the minute before each of these periods, the present one last.

        The present period is not over. It counts with those of the fifty seconds before it if
        that is more than the whole minute before it.
        """
        ends = self.columns(number + MINUTE, at)
        found = [sum(ends[minute : minute + MINUTE]) for minute in range(number)]
        return [*found[:-1], max(found[-1], sum(ends[-MINUTE:]))]

    def _add(self, stretch: int, ends: int) -> None:
        if self._ends and self._ends[-1][0] == stretch:
            self._ends[-1] = (stretch, self._ends[-1][1] + ends)
        else:
            self._ends.append((stretch, ends))


def plot(values: list[int], height: int, glyphs: Glyphs) -> list[Line]:
    """Return bars from the bottom up; each line of the plot has as many steps as signs."""
    steps = len(glyphs.sparks)
    top = max([*values, 1])
    levels = [-(-value * height * steps // top) if value else 0 for value in values]
    lines: list[Line] = []
    for row in reversed(range(height)):
        signs = "".join(_sign(level - row * steps, glyphs) for level in levels)
        lines.append(((signs, "good"),))
    return lines


def _sign(level: int, glyphs: Glyphs) -> str:
    if level <= 0:
        return " "
    return glyphs.sparks[min(level, len(glyphs.sparks)) - 1]
