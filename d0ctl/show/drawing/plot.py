"""Values over time as a line of bars."""

from collections.abc import Sequence

from d0ctl.show.drawing.signs import Glyphs

Point = tuple[float, float | None]
"""A time, and the value until then since the previous one."""


def resampled(
    points: Sequence[Point], begin: float, end: float, columns: int, longest: float
) -> list[float | None]:
    """Return the value in each column of a period, the greatest if there are several.

    A value holds back to the previous point, but no longer than `longest`; else it is unknown.
    """
    levels: list[float | None] = [None] * columns
    step = (end - begin) / max(1, columns)
    before = float("-inf")
    for at, value in points:
        since = max(before, at - longest, begin)
        before = at
        if value is None or at < begin or step <= 0:
            continue
        first, last = int((since - begin) / step), int((at - begin) / step)
        for column in range(max(0, first), min(last, columns - 1) + 1):
            known = levels[column]
            levels[column] = value if known is None else max(known, value)
    return levels


def bars(values: Sequence[float | None], top: float, glyphs: Glyphs) -> str:
    """Return a sign for each value: its height beside `top`, a blank if it is unknown."""
    steps = len(glyphs.sparks)
    return "".join(
        " " if value is None else glyphs.sparks[_level(value / (top or 1.0), steps)]
        for value in values
    )


def _level(share: float, steps: int) -> int:
    return max(0, min(steps - 1, round(share * steps) - 1))
