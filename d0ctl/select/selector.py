"""What a selector names: jobs, and numbers of stages, lines, packages or binaries, and filters."""

import re
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from d0ctl.errors import BadUsage, NotANumber
from d0ctl.model import STATUS_OF, Phase, Status

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


MOST_NAMED = 3
"""How many parts of a selection a sentence names."""

LEVELS = ("job", "stage", "line", "package", "binary")

WILD = frozenset("*?[")
"""The characters that make the name of a job a pattern."""


class Selector(Struct, frozen=True):
    """A selection: by levels, then by phases, reason of failure, node and age.

    `depth` counts the levels that were named. A stage is named by `stage_name` or by number; lines
    are by number, or as `values` of their loops until the store has found their numbers.
    A selection with several parts has the others in `also`.
    """

    job: str = "*"
    stage: Span = ALL
    line: Span = ALL
    package: Span = ALL
    binary: Span = ALL
    depth: int = 1
    stage_name: str | None = None
    values: str | None = None
    states: tuple[str, ...] = ()
    reason: str | None = None
    node: str | None = None
    older_than: float | None = None
    also: tuple["Selector", ...] = ()

    @property
    def parts(self) -> tuple["Selector", ...]:
        """The selectors that make up the selection."""
        return (replace(self, also=()), *self.also) if self.also else (self,)

    @property
    def needs_numbers(self) -> bool:
        """Whether the store has to find numbers: of lines by their values, or from the end."""
        return any(
            part.values is not None or span.counts_back
            for part in self.parts
            for span in (part.stage, part.line, part.package)
        )

    @property
    def names_jobs(self) -> bool:
        """Whether it names whole jobs only."""
        return all(part.depth == 1 and not part.is_filtered for part in self.parts)

    @property
    def phases(self) -> tuple[Phase, ...] | None:
        """The selected phases, None for all."""
        if not self.states:
            return None
        return tuple(phase for phase in Phase if any(_is(phase, state) for state in self.states))

    @property
    def is_filtered(self) -> bool:
        """Whether packages are selected by more than their position."""
        if self.states or self.reason or self.node or self.older_than is not None:
            return True
        return bool(self.also) and any(part.is_filtered for part in self.also)

    @property
    def is_plain(self) -> bool:
        """Whether it is a job by its name and numbers of the other levels, without filters."""
        is_named = self.stage_name or self.values
        return not (self.is_filtered or is_named or WILD.intersection(self.job))

    @property
    def is_one(self) -> bool:
        """Whether it is one job, stage, line, package or binary, and all of it."""
        return not self.is_filtered and not self.wildcard_level

    @property
    def wildcard_level(self) -> str:
        """The first level that may have several matches; empty if none does."""
        if self.also:
            jobs = {part.job for part in self.parts}
            return "job" if len(jobs) > 1 or WILD & set(self.job) else "stage"
        stage_is_one = self.stage_name is not None or self.stage.is_one
        single = (not WILD & set(self.job), stage_is_one, self.line.is_one,
                  self.package.is_one, self.binary.is_one)  # fmt: skip
        for level, is_single in zip(LEVELS[: self.depth], single, strict=False):
            if not is_single:
                return level
        return ""

    @property
    def level(self) -> str:
        """The deepest level that was named; empty if the parts differ."""
        if any(part.depth != self.depth for part in self.also):
            return ""
        return LEVELS[self.depth - 1]

    @property
    def brief(self) -> str:
        """The selection for a sentence: its first parts, and how many more there are."""
        return in_brief(list(map(str, self.parts[:MOST_NAMED])), len(self.also) + 1)

    @property
    def arguments(self) -> list[str]:
        """The words that name it in an action on the command line."""
        parts = [str(part) for part in self.parts]
        parts += ["--failed-for", self.reason] if self.reason else []
        parts += ["--node", self.node] if self.node else []
        return [*parts, "--older-than", f"{self.older_than:g}s"] if self.older_than else parts

    @property
    def path(self) -> str:
        """The levels of its first part, without states."""
        line = self.line if self.values is None else self.values
        levels = (self.stage_name or self.stage, line, self.package, self.binary)
        return "/".join((self.job, *map(str, levels[: self.depth - 1])))

    def __str__(self) -> str:
        states = f":{','.join(self.states)}" if self.states else ""
        return " ".join((self.path + states, *map(str, self.also)))


def _is(phase: Phase, state: str) -> bool:
    """Return whether a word is the name of a phase or of its status; a status comes first."""
    if state in set(Status):
        return STATUS_OF[phase] == state
    return phase == state


def in_brief(first: list[str], number: int) -> str:
    """Write the first parts of a selection, and how many more of so many there are."""
    more = f" and {number - len(first):,} more" if number > len(first) else ""
    return " ".join(first) + more
