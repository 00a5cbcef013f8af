"""Arithmetic with ranges of events: lines `FIRST LAST`, both included."""

import re
from typing import Any, Iterable, Iterator, List, Tuple

from d0ctl_wrapper.protocol.checks import shape

Range = Tuple[int, int]
Ranges = List[Range]
"""Sorted, with gaps between them."""

MOST = 10000
"""The most ranges in a list."""

_LINE = re.compile(rb"[ \t]*([0-9]{1,18})(?:[ \t]+([0-9]{1,18}))?[ \t\r]*\Z")


def read(lines: "Iterable[bytes]") -> "Iterator[Range]":
    """Yield the ranges in lines; a single number is a range of one, other lines are skipped."""
    for line in lines:
        found = _LINE.match(line)
        if found:
            first, last = int(found.group(1)), int(found.group(2) or found.group(1))
            if first <= last:
                yield first, last


def text(ranges: Ranges) -> str:
    """Return ranges as text, one a line."""
    return "".join("%d %d\n" % pair for pair in ranges)


def summary(ranges: Ranges) -> str:
    """Return the first ranges as people write them."""
    shown = ["%d" % first if first == last else "%d-%d" % (first, last) for first, last in ranges]
    more = " and %d more ranges" % (len(shown) - 5) if len(shown) > 5 else ""
    return ", ".join(shown[:5]) + more


def join(found: "Iterable[Range]") -> Ranges:
    """Return ranges sorted; those that touch or overlap are merged."""
    joined: Ranges = []
    for first, last in sorted(found):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return joined


def common(some: Ranges, others: Ranges) -> Ranges:
    """Return the events in both."""
    found = []
    here, there = 0, 0
    while here < len(some) and there < len(others):
        first, last = max(some[here][0], others[there][0]), min(some[here][1], others[there][1])
        if first <= last:
            found.append((first, last))
        if some[here][1] < others[there][1]:
            here += 1
        else:
            there += 1
    return found


def without(some: Ranges, others: Ranges) -> Ranges:
    """Return the events in the first only."""
    found = []
    for first, last in some:
        for from_, to in common([(first, last)], others):
            if first < from_:
                found.append((first, from_ - 1))
            first = to + 1
        if first <= last:
            found.append((first, last))
    return found


def count(ranges: Ranges) -> int:
    """Count the events."""
    return sum(last - first + 1 for first, last in ranges)


def check(value: Any) -> Ranges:
    """Accept sorted pairs, as JSON has them."""
    if not isinstance(value, list) or len(value) > MOST:
        raise ValueError("is not a list of at most %d ranges" % MOST)
    found = [_pair(pair) for pair in value]
    if join(found) != found:
        raise ValueError("has ranges out of order")
    return found


def _pair(pair: Any) -> Range:
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        raise ValueError("has an item that is not a pair")
    first, last = shape.whole(pair[0]), shape.whole(pair[1])
    if first > last:
        raise ValueError("has a range that ends before it starts")
    return first, last
