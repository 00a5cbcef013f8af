"""The only place that counts with ranges of events: lines `FIRST LAST`, both of them included."""

import re
from typing import Any, Iterable, Iterator, List, Tuple

from d0ctl_wrapper.protocol import shape

Range = Tuple[int, int]
Ranges = List[Range]
"""Sorted, with gaps between them."""

MOST = 10000
"""With more pieces than this, ranges are of no use to anybody."""

_LINE = re.compile(rb"[ \t]*([0-9]{1,18})(?:[ \t]+([0-9]{1,18}))?[ \t\r]*\Z")


def read(lines: "Iterable[bytes]") -> "Iterator[Range]":
    """Give the ranges in lines; one number alone is a range of one, anything else is none."""
    for line in lines:
        found = _LINE.match(line)
        if found:
            first, last = int(found.group(1)), int(found.group(2) or found.group(1))
            if first <= last:
                yield first, last


def text(ranges: Ranges) -> str:
    """Write ranges, one a line."""
    return "".join("%d %d\n" % one for one in ranges)


def shown(ranges: Ranges) -> str:
    """Write a few ranges as people do."""
    words = ["%d" % first if first == last else "%d-%d" % (first, last) for first, last in ranges]
    more = " and %d more ranges" % (len(words) - 5) if len(words) > 5 else ""
    return ", ".join(words[:5]) + more


def join(found: "Iterable[Range]") -> Ranges:
    """Bring ranges in order, those that touch or overlap as one."""
    joined: Ranges = []
    for first, last in sorted(found):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], last))
        else:
            joined.append((first, last))
    return joined


def common(some: Ranges, others: Ranges) -> Ranges:
    """Give what lies in both."""
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
    """Give what lies in the first only."""
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
        raise ValueError("has what is no pair")
    first, last = shape.whole(pair[0]), shape.whole(pair[1])
    if first > last:
        raise ValueError("has a range that ends before it begins")
    return first, last
