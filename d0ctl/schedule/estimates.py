"""Estimates from earlier runs: a middle value, and a range that holds eight of ten."""

import json
import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from d0ctl.schedule.quota import Limit

HALF_RUNS = 16
"""A run counts half as much as one that came this many runs later."""

MOST_RUNS = 64
"""How many of the latest runs are kept."""

GUESSED = 2.0
"""Without measurements, the range goes from a value divided by this to its multiple."""

LEAST_WORK = 10**6
"""With fewer bytes of work files, a run counts as one without any."""

QUANTITIES = ("seconds", "part", "rss", "output", "work")
"""What is kept of each run: seconds on a standard node, these as a part of what was expected,
bytes of memory, of outputs, and of other files at the peak."""


class Range(Struct, frozen=True):
    """A middle value; one in ten is below `low`, and one above `high`."""

    low: float
    middle: float
    high: float

    def __add__(self, other: "Range") -> "Range":
        return Range(self.low + other.low, self.middle + other.middle, self.high + other.high)

    def times(self, factor: float) -> "Range":
        """Return its multiple."""
        return Range(self.low * factor, self.middle * factor, self.high * factor)

    def sum_of(self, number: int, runs: int) -> "Range":
        """Return the sum of so many values, based on `runs`, which varies less than each."""
        part = 1.0 / math.sqrt(min(number, runs + 1))
        low, high = (self.middle - self.low) * part, (self.high - self.middle) * part
        return Range(self.middle - low, self.middle, self.middle + high).times(number)

    def at_least(self, least: float) -> "Range":
        """Return the same values, but none below this."""
        return Range(max(self.low, least), max(self.middle, least), max(self.high, least))

    def no_earlier(self, *others: "Range") -> "Range":
        """Return when this and the others have ended."""
        all_of = (self, *others)
        return Range(
            max(of.low for of in all_of), max(of.middle for of in all_of),
            max(of.high for of in all_of),
        )  # fmt: skip

    def around(self, middle: float) -> "Range":
        """Return another middle value with the same range, as a multiple."""
        if not self.middle or middle == math.inf:
            return Range(middle, middle, middle)
        return self.times(middle / self.middle)

    @property
    def known(self) -> "Range | None":
        """Itself; None if it is infinite."""
        return self if self.middle < math.inf else None


class Sizes(Struct, frozen=True):
    """Bytes that a package is expected to take: memory, outputs, and files that it removes again.

    None if nothing is known about them.
    """

    memory: Range | None = None
    output: Range | None = None
    work: Range | None = None

    @property
    def space(self) -> int | None:
        """The disk that it takes in most cases; None if nothing is known."""
        known = [estimate.high for estimate in (self.output, self.work) if estimate]
        return round(sum(known)) or None

    def largest(self, other: "Sizes") -> "Sizes":
        """Return the larger of each."""
        return Sizes(_larger(self.memory, other.memory), _larger(self.output, other.output),
                     _larger(self.work, other.work))  # fmt: skip


def _larger(bounds: Range | None, other: Range | None) -> Range | None:
    if bounds is None or other is None:
        return bounds or other
    return bounds if bounds.high >= other.high else other


NO_SIZES = Sizes()

NOTHING = Range(0.0, 0.0, 0.0)


class StageLeft(Struct, frozen=True):
    """What is left of a stage: its packages that have not begun, and the CPU seconds of each on a
    standard node. `runs` is how many packages that is based on; if it is unknown,
    `seconds` is None.
    """

    seq: int
    packages: int
    seconds: Range | None
    runs: int = 0
    rank: float = 0.0
    """Seconds of the longest chain that begins in it."""
    sizes: Sizes = NO_SIZES
    """The memory and disk of one of its packages."""
    unmeasured: str | None = None
    """A package at a position of its chains at which none has succeeded, while others have; empty
    if that is in later lines."""
    stuck: int = 0
    """How many more of its packages wait for failed, canceled or held ones."""
    held: int = 0
    """How many more of its packages are held: only a release runs them."""
    running: float = 0.0
    """In how many seconds the last of its packages on nodes that take more ends."""
    cpus: float = 1.0
    """The most CPUs that one of its packages takes."""
    limits: Sequence["Limit"] = ()
    """Limits for its packages alone."""
    cooling: float = 0.0
    """Seconds until its packages that cool off, or wait for such, could have ended."""
    alone: Range = NOTHING
    """In how many seconds its packages on nodes that take no more have ended."""
    blind: int = 0
    """How many of its packages run of which nothing is known: neither a run time nor progress."""
    unfit: int = 0
    """How many of its packages are ready, and no node takes them."""
    queued: int = 0
    """How many more of its packages are on nodes and have not begun."""
    after: Range = NOTHING
    """In how many seconds its packages could have ended that wait for files of other jobs, or for
    such packages; infinite if nobody knows."""

    @property
    def last_end(self) -> Range:
        """In how many seconds its packages on nodes have ended."""
        assert self.seconds is not None
        return self.seconds.around(self.running).no_earlier(self.alone)

    @property
    def work(self) -> Range:
        """CPU seconds of its packages together, which vary less than those of one."""
        if self.seconds is None or not self.packages:
            return NOTHING
        return self.seconds.sum_of(self.packages, self.runs)


def guess(value: float) -> Range:
    """Return the range of a value that was only expected."""
    return Range(value / GUESSED, value, value * GUESSED)


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


def work_of(peak: int, output: int) -> int:
    """Return the bytes of work files, from the largest disk usage and the outputs of a run."""
    work = peak - output
    return work if work >= LEAST_WORK else 0


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


def sizes_of(text: str) -> Sizes:
    """Return the expected needs of packages of a stage, from its row."""
    known = json.loads(text)
    memory, output, work = (
        Range(*known[key]) if known.get(key) else None for key in ("memory", "output", "work")
    )
    return Sizes(memory, output, work)


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
