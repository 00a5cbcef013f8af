"""Search of many names by patterns: each of 10^5 lines may have its own."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import islice, takewhile

from d0ctl.jobfile.yaml.faults import shown

MOST_STEPS = 5_000_000_000
"""How many steps of about 1 ns all searches may take together."""

COMPARISON = 500
"""The steps to compare a name with a pattern."""

_WILD = re.compile(r"[*?\[]")


def too_long(pattern: str) -> str:
    """Say that the searches took too long, and what to write instead."""
    return (
        f"`match` compares too many lines with too many files, at {shown(pattern)}: begin or end "
        "the pattern with fixed text, or make groups by `for`"
    )


class NameIndex:
    """Names that are compared with a pattern only if they have its fixed begin, end or middle."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._last: tuple[str, list[int]] = ("", [])
        self.steps = 0

    @property
    def is_spent(self) -> bool:
        """Whether the searches took too long, so that no other is made."""
        return self.steps > MOST_STEPS

    def matching(self, pattern: str) -> list[int]:
        """Return the indexes of the matching names, in their order."""
        if pattern != self._last[0]:
            found = []
            for index in () if self.is_spent else self._likely(pattern):
                self.steps += COMPARISON
                if fnmatchcase(self._names[index], pattern):
                    found.append(index)
            self._last = pattern, sorted(found)
        return self._last[1]

    def _likely(self, pattern: str) -> Iterable[int]:
        parts = _WILD.split(pattern)
        if parts[0]:
            return _beginning(self._sorted, parts[0])
        if "[" in pattern:
            return range(len(self._names))
        if parts[-1]:
            return _beginning(self._reversed, parts[-1][::-1])
        middle = max(parts, key=len)
        return self._containing(middle) if middle else range(len(self._names))

    @cached_property
    def _sorted(self) -> list[tuple[str, int]]:
        return sorted((name, index) for index, name in enumerate(self._names))

    @cached_property
    def _reversed(self) -> list[tuple[str, int]]:
        return sorted((name[::-1], index) for index, name in enumerate(self._names))

    def _containing(self, part: str) -> Iterator[int]:
        """Iterate over the names with this part, found in the text of all names at once."""
        text, ends = self._text
        self.steps += len(text)
        at = text.find(part)
        while at >= 0:
            index = bisect_left(ends, at)
            yield index
            at = text.find(part, ends[index])

    @cached_property
    def _text(self) -> tuple[str, list[int]]:
        """All names, each in a line, and where each ends."""
        ends, end = [], -1
        for name in self._names:
            end += len(name) + 1
            ends.append(end)
        return "\n".join(self._names) + "\n", ends


def _beginning(names: list[tuple[str, int]], head: str) -> Iterator[int]:
    begin = bisect_left(names, (head, -1))
    likely = takewhile(lambda pair: pair[0].startswith(head), islice(names, begin, None))
    return (index for _, index in likely)
