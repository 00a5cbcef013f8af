"""The numbers of a level that a selector names: `3`, `1-10`, `5-`, `last`, `[0:10]`, `*`."""

import re
from functools import lru_cache

from msgspec import Struct

from d0ctl.errors import BadUsage, NotANumber

LAST = 2**31 - 1
"""The last number of a range without an end."""

# Strings, because each command imports this and few use all: re compiles them on first use.
_RANGE = r"(?a)(\d{1,9})(-?)(\d{1,9})?|-(\d{1,9})"
_SLICE = r"(?a)\[(?:(-?\d{1,9})|(-?\d{1,9})?:(-?\d{1,9})?)\]"


class Span(Struct, frozen=True):
    """The selected numbers of a level, from `first` to `last`; -1 is the last one."""

    first: int = 1
    last: int = LAST

    @property
    def counts_back(self) -> bool:
        """Whether the numbers depend on how many there are."""
        return self.first < 0 or self.last < 0

    def within(self, size: int) -> "Span":
        """Return the selected numbers of so many; `last` is smaller if there is none."""
        if not self.counts_back:
            return self
        first, last = (
            number + size + 1 if number < 0 else number for number in (self.first, self.last)
        )
        return Span(max(1, first), last)

    @property
    def is_one(self) -> bool:
        """Whether just one number is selected."""
        return self.first == self.last

    def __str__(self) -> str:
        if self.counts_back:
            return _slice(self)
        if self.first == self.last:
            return str(self.first)
        if self == ALL:
            return "*"
        return f"{self.first}-" if self.last == LAST else f"{self.first}-{self.last}"


def _slice(span: Span) -> str:
    """Write a span that counts from the end, with ids from 0."""
    if span == Span(-1, -1):
        return "last"
    first = span.first - 1 if span.first > 0 else span.first
    last = span.last + 1 if span.last < 0 else span.last
    return f"[{first or ''}:{'' if last in (0, LAST) else last}]"


ALL = Span()
"""Every number of a level."""


def span_of(part: str, text: str) -> Span:
    """Return the numbers of a level of a selector. Raises BadUsage."""
    span = numbers(part)
    if span is None:
        forms = "a range as `1-10` or `5-`, a slice as `[0:10]`, `last` nor `*`"
        raise NotANumber(f"`{part}` in `{text}` is neither a number, {forms}", text)
    if not (span.counts_back or 1 <= span.first <= span.last):
        why = "numbers begin at 1" if span.first < 1 else "it ends before it begins"
        raise BadUsage(f"`{part}` in `{text}` selects nothing: {why}")
    return span


def one_number(span: Span, text: str) -> Span:
    """Return the number of a binary. Raises BadUsage for several."""
    if not span.is_one or span.counts_back:
        raise BadUsage(f"`{text}` names several binaries", hint="name one, or its package")
    return span


@lru_cache(maxsize=4096)
def numbers(part: str) -> Span | None:
    """Return the numbers of a level as they are written; None if it is no number or range."""
    if part == "*":
        return ALL
    if part == "last":
        return Span(-1, -1)
    if sliced := re.fullmatch(_SLICE, part):
        return _of_slice(sliced)
    found = re.fullmatch(_RANGE, part)
    if found is None:
        return None
    if found[4]:
        return Span(1, int(found[4]))
    first = int(found[1])
    return Span(first, int(found[3] or LAST) if found[2] else int(found[0]))


def _of_slice(found: re.Match[str]) -> Span:
    """Return the numbers, from 1, of a slice or an id, which count from 0 or back from the end."""
    if found[1]:
        number = int(found[1])
        return Span(number, number) if number < 0 else Span(number + 1, number + 1)
    first, last = int(found[2] or 0), int(found[3] or LAST)
    if found[3] and last == 0:
        return Span(1, 0)
    return Span(first + 1 if first >= 0 else first, last - 1 if last < 0 else last)
