"""Estimates from earlier runs: which of these are kept, and their quantiles."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from d0ctl.schedule.estimates import Range, guess

HALF_RUNS = 16
"""A run counts half as much as one that came this many runs later."""

MOST_RUNS = 64
"""How many of the latest runs are kept."""

QUANTITIES = ("seconds", "part", "rss", "output", "work")
"""What is kept of each run: seconds on a standard node, these as a part of what was expected,
bytes of memory, of outputs, and of other files at the peak."""


def of(values: Sequence[float]) -> Range | None:
    """Return the weighted quantiles of values, the oldest first; None without any.

    The fewer values, the wider the range: a single one may be off by a factor of two.
    """
    if not values:
        return None
    count = len(values)
    low = middle = high = values[0]
    if values.count(low) < count:
        weighted = sorted(zip(values, _weights(count), strict=True))
        low, middle, high = _quantiles(weighted, (0.1, 0.5, 0.9))
    wider = 1.0 + 1.0 / count
    return Range(low / wider, middle, high * wider)


def mean_of(values: Sequence[float]) -> Range | None:
    """Return the weighted mean of values, the oldest first, with their range; None without any.

    Many packages take their mean together, not their median: those of a stage may be of two kinds,
    such as 5 s and 0.05 s, and the median is of one of them or of none.
    """
    if (bounds := of(values)) is None:
        return None
    weights = _weights(len(values))
    mean = sum(value * weight for value, weight in zip(values, weights, strict=True)) / sum(weights)
    return Range(bounds.low, min(max(mean, bounds.low), bounds.high), bounds.high)


@cache
def _weights(count: int) -> list[float]:
    """Return the weight of each of so many runs, the oldest first."""
    return [0.5 ** (age / HALF_RUNS) for age in reversed(range(count))]


def _quantiles(weighted: Sequence[tuple[float, float]], wanted: Iterable[float]) -> list[float]:
    total = sum(weight for _, weight in weighted)
    places, before = [], 0.0
    for _, weight in weighted:
        places.append((before + weight / 2) / total)
        before += weight
    return [_between(places, weighted, part) for part in wanted]


def _between(
    places: Sequence[float], weighted: Sequence[tuple[float, float]], part: float
) -> float:
    """Return the value at a fraction of the total weight, between its neighbours."""
    right = bisect_left(places, part)
    if right in (0, len(places)):
        return weighted[max(0, right - 1)][0]
    left, below, above = places[right - 1], weighted[right - 1][0], weighted[right][0]
    return below + (above - below) * (part - left) / (places[right] - left)


def merged(
    known: Mapping[str, Sequence[float]], runs: Iterable[Mapping[str, float | None]]
) -> dict[str, list[float]]:
    """Return the values of each quantity with those of further runs, limited to the latest."""
    found = {name: list(known.get(name, ())) for name in QUANTITIES}
    for run in runs:
        for name in QUANTITIES:
            if (value := run.get(name)) is not None:
                found[name].append(value)
    return {name: values[-MOST_RUNS:] for name, values in found.items() if values}


def run_time(
    runtime: float | None,
    histories: Iterable[Mapping[str, Sequence[float]]],
    usual: float | None = None,
) -> Range | None:
    """Return the run time of a binary on a standard node; None if nothing is known.

    `runtime` is the job file's value, corrected by how well such values came true;
    `histories` begin with the closest, `usual` is the catalogue's value.
    """
    for history in histories:
        if runtime is None and (found := of(history.get("seconds", ()))) is not None:
            return found
        if runtime is not None and (found := of(history.get("part", ()))) is not None:
            return found.times(runtime)
    expected = usual if runtime is None else runtime
    return None if expected is None else guess(expected)


def first(histories: Iterable[Mapping[str, Sequence[float]]], quantity: str) -> Range | None:
    """Return the range of a quantity by the first history that has it; None if none has."""
    return next((found for history in histories if (found := of(history.get(quantity, ())))), None)


def error(estimates: Iterable[tuple[float, float]]) -> float | None:
    """Return the median error of estimates, as a factor of at least 1; None without any.

    Each is a pair of the expected and the actual value.
    """
    factors = sorted(
        max(expected / happened, happened / expected)
        for expected, happened in estimates
        if expected > 0 and happened > 0
    )
    return factors[len(factors) // 2] if factors else None
