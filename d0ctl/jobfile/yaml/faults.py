"""The faults and warnings of a file, collected and merged."""

import difflib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from typing import NamedTuple

from msgspec import Struct, field

from d0ctl.jobfile.yaml.hidden import MOST_KEPT, HiddenOutputs
from d0ctl.units import listed

MAX_SHOWN = 80
"""The number of characters of a value that a fault shows."""

MAX_SAID = 1000
"""The number of characters of a fault, which may quote words of the file."""

NAMES_SEARCHED = 5000

FOR_HINTS, FOR_SLIPS = 10_000_000, 40_000_000
"""How much words are compared with names for one file, in steps of about 20 ns."""

VISIT, COMPARISON = 10, 300
"""The steps to look at a name, and to begin to compare it with a word."""


class Position(NamedTuple):
    """A line and a column of the file, counted from 1."""

    line: int
    column: int


class Notes:
    """Remarks on one file, each once for its position.

    Similar remarks at one position are merged into the first, with a count: a loop can make the
    same mistake 10^5 times. A generated file has no source, and its remarks no position.
    """

    def __init__(self, source: str | None, label: str = "") -> None:
        self._source, self._label = source, label
        self._found: dict[tuple[Position, str], _Entry] = {}
        self._first: dict[str, Position] = {}
        self.noted = 0
        """The number of remarks, including repeated ones."""

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, position: Position, message: str) -> None:
        """Record a remark at a position, once."""
        self._found.setdefault((position, message), _Entry(message, add_similar=False)).count += 1
        self.noted += 1

    def add_similar(self, position: Position, kind: str, message: str | Callable[[], str]) -> None:
        """Record a remark about a value; similar remarks at one position are merged.

        A message that takes time to make is made only for the first of them.
        """
        entry = self._found.get((position, kind))
        if entry is None:
            text = message if isinstance(message, str) else message()
            self._found[position, kind] = entry = _Entry(text, add_similar=True)
        entry.count += 1
        self.noted += 1

    def add_once(self, position: Position, kind: str, message: str) -> None:
        """Record a remark like a similar one, at the first of all positions that have it."""
        self.add_similar(self._first.setdefault(message, position), kind, message)

    def lines(self) -> list[str]:
        """Return every note as `file:line:column: text`, in the order of the file.

        For a generated file, it is only the text.
        """
        texts = []
        for (position, _), entry in sorted(self._found.items(), key=_by_position):
            more = f", and {entry.count - 1:,} more like it" if entry.more else ""
            message = entry.message
            if len(message) > MAX_SAID:
                message = f"{message[:MAX_SAID]}..."
            texts.append(escape(f"{self._where(position)}{message}{more}"))
        return texts

    def _where(self, position: Position) -> str:
        if self._source is None:
            return ""
        return f"{self._source}:{position.line}:{position.column}: {self._label}"


class Faults(Notes):
    """The faults of one file, for which it is refused, and its warnings."""

    def __init__(self, source: str | None, what: str = "a job file") -> None:
        super().__init__(source)
        self.what = what
        """The kind of file, such as `a job file`."""
        self.hidden = HiddenOutputs()
        """The outputs that faults may hide, so that their readers are not at fault."""
        self.warnings = Notes(source, "warning: ")
        self.left_out = Notes(None)
        """Those of the warnings that name files which are in no group, without their positions."""

    def leave_out(self, position: Position, message: str) -> None:
        """Warn that files are in no group."""
        self.warnings.add(position, message)
        self.left_out.add(position, message)

    @property
    def note(self) -> str:
        """Name the missing files that are no faults yet; empty if there are none."""
        first, *others = [shown(name) for name in self.hidden.not_reported] or [""]
        if not first:
            return ""
        names = f"such as {first}" if len(others) >= MOST_KEPT - 1 else listed([first, *others])
        return escape(f"missing files that faulty entries may make are reported later: {names}")

    @property
    def beside(self) -> str:
        """Where files are that the file names, such as `beside the job file`."""
        return f"beside the {self.what.removeprefix('a ')}"


class _Entry(Struct):
    message: str
    add_similar: bool
    count: int = 0

    @property
    def more(self) -> bool:
        return self.add_similar and self.count > 1


def _by_position(item: tuple[tuple[Position, str], _Entry]) -> Position:
    return item[0][0]


def escape(text: str) -> str:
    """Escape control characters, so that a text is one line on a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shown(value: str) -> str:
    """Quote a value for a fault; cut a long one."""
    return f"`{value if len(value) <= MAX_SHOWN else value[:MAX_SHOWN] + '...'}`"


class Comparing(Struct):
    """The steps of comparisons that are left for a file, and what the ones before have found."""

    for_hints: int = FOR_HINTS
    for_slips: int = FOR_SLIPS
    found: dict[tuple[str, float, tuple[str, ...]], str | None] = field(default_factory=dict)


COMPARING = ContextVar[Comparing | None]("comparing", default=None)
"""What is left for the file that is being read."""


@contextmanager
def few_comparisons() -> Iterator[None]:
    """Compare words with names for a limited time, while one file is read.

    A file may have 10^5 wrong words and as many names.
    """
    token = COMPARING.set(Comparing())
    try:
        yield
    finally:
        COMPARING.reset(token)


def near(word: str, names: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the name that a misspelt word most probably means."""
    if len(word) > 200:
        return None
    comparing = COMPARING.get()
    if comparing is None:
        return _nearest(word, cutoff, tuple(islice(names, NAMES_SEARCHED)))
    if comparing.for_hints < 0:
        return None
    candidates = tuple(islice(names, NAMES_SEARCHED))
    comparing.for_hints -= VISIT * len(candidates)
    question = (word, cutoff, candidates)
    if question not in comparing.found:
        letters = sum(map(len, candidates))
        comparing.for_hints -= COMPARISON * len(candidates) + len(word) * letters
        comparing.found[question] = _nearest(*question)
    return comparing.found[question]


def _nearest(word: str, cutoff: float, names: tuple[str, ...]) -> str | None:
    folded = {name.casefold(): name for name in reversed(names)}
    if word.casefold() in folded:
        return folded[word.casefold()]
    found = difflib.get_close_matches(word, names, n=1, cutoff=cutoff)
    return found[0] if found else None


def did_you_mean(word: str, names: Iterable[str], cutoff: float = 0.6) -> str:
    """Return ` (did you mean `x`?)`, or an empty text if no name is near."""
    meant = near(word, names, cutoff)
    return f" (did you mean `{meant}`?)" if meant and meant != word else ""
