"""How long the longest chain of packages takes that begins with a package (its upward rank)."""

import math
from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence

MOST_CLASSES = 200
"""The most classes of similar packages that a job is divided into, besides one for each stage."""

RATIOS = (1.02, 1.1, 1.3, 2.0, 8.0)
"""Times that differ by less than this ratio belong to one class; tried in this order."""


def ranks(seconds: Sequence[float], before: Sequence[Collection[int]]) -> list[float]:
    """Return the rank of each step from its own time and the steps that come before it.

    Steps in a cycle, which wait for each other, get the rank of the steps they can reach.
    """
    return longest(seconds, before)[0]


def longest(
    seconds: Sequence[float], before: Sequence[Collection[int]]
) -> tuple[list[float], list[int | None]]:
    """Return the rank of each step, and the step that follows it on its longest chain."""
    follow = [0] * len(seconds)
    for befores in before:
        for earlier in befores:
            follow[earlier] += 1
    rest = [0.0] * len(seconds)
    following: list[int | None] = [None] * len(seconds)
    pending = [step for step, number in enumerate(follow) if not number]
    found = list(seconds)
    while pending:
        step = pending.pop()
        found[step] = seconds[step] + rest[step]
        for earlier in before[step]:
            if following[earlier] is None or found[step] > rest[earlier]:
                rest[earlier], following[earlier] = max(rest[earlier], found[step]), step
            follow[earlier] -= 1
            if not follow[earlier]:
                pending.append(earlier)
    return found, following


def chain(
    step: int, following: Sequence[int | None], kinds: Mapping[int, int], seconds: Sequence[float]
) -> dict[int, float]:
    """Return the seconds of the longest chain of a step by the kinds of its steps."""
    found: dict[int, float] = {}
    after: int | None = step
    while after is not None:
        if after in kinds:
            found[kinds[after]] = found.get(kinds[after], 0.0) + seconds[after]
        after = following[after]
    return found


def classes(
    kinds: Sequence[Hashable], pairs: Sequence[tuple[float, float | None]]
) -> list[tuple[float, float | None]]:
    """Return rank and run time for each package, rounded so that few different values remain.

    Packages of different kinds are in different classes anyway.
    """
    labels: list[Hashable] = []
    for ratio in RATIOS:
        labels = [
            (kind, _step(rank, ratio), None if seconds is None else _step(seconds, ratio))
            for kind, (rank, seconds) in zip(kinds, pairs, strict=True)
        ]
        if len(set(labels)) - len(set(kinds)) <= MOST_CLASSES:
            break
    else:
        labels = list(kinds)
    members = defaultdict(list)
    for label, pair in zip(labels, pairs, strict=True):
        members[label].append(pair)
    means = {label: _mean(of_class) for label, of_class in members.items()}
    return [means[label] for label in labels]


def _step(seconds: float, ratio: float) -> int:
    return round(math.log(max(seconds, 1e-3)) / math.log(ratio))


def _mean(pairs: Sequence[tuple[float, float | None]]) -> tuple[float, float | None]:
    known = [seconds for _, seconds in pairs if seconds is not None]
    rank = sum(rank for rank, _ in pairs) / len(pairs)
    return rank, sum(known) / len(known) if known else None
