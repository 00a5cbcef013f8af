"""The faults and warnings of a file: collected, merged and put into words."""

import difflib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

MOST_FAULTS = 200
"""How many faults are listed; a last line counts the rest."""

MOST_SHOWN = 80
"""How many characters of a value a fault shows."""

_NAMES_SEARCHED = 5000


class Place(NamedTuple):
    """A line and a column of the file, counted from 1."""

    line: int
    column: int


class Notes:
    """Remarks on one file, each once for each place that says it.

    Those of the same place and `kind` are told by the first of them and a count, so that
    a line made 10^5 times does not repeat itself.
    """

    def __init__(self, source: str, plural: str, label: str = "") -> None:
        self._source, self._plural, self._label = source, plural, label
        self._found: dict[tuple[Place, str], _Entry] = {}
        self.noted = 0
        """How often something was noted, repeated or not."""

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, place: Place, message: str) -> None:
        """Note what is written at a place; the same at the same place is not repeated."""
        self._found.setdefault((place, message), _Entry(message, alike=False)).count += 1
        self.noted += 1

    def alike(self, place: Place, kind: str, message: Callable[[], str]) -> None:
        """Note what comes from the value of a placeholder; `kind` merges such notes."""
        entry = self._found.get((place, kind))
        if entry is None:
            self._found[place, kind] = entry = _Entry(message(), alike=True)
        entry.count += 1
        self.noted += 1

    def lines(self) -> list[str]:
        """Return every note as `file:line:column: text`, in the order of the file."""
        texts = []
        for (place, _), entry in sorted(self._found.items(), key=_by_place):
            more = f", and {entry.count - 1:,} more like it" if entry.more else ""
            where = f"{self._source}:{place.line}:{place.column}"
            texts.append(escape(f"{where}: {self._label}{entry.message}{more}"))
        if len(texts) > MOST_FAULTS:
            rest = len(texts) - MOST_FAULTS
            texts[MOST_FAULTS:] = [escape(f"{self._source}: and {rest:,} more {self._plural}")]
        return texts


class Faults(Notes):
    """What is wrong with one file, and beside it the warnings, with which it is accepted."""

    def __init__(self, source: str, what: str = "a job file") -> None:
        super().__init__(source, "faults")
        self.what = what
        """What kind of file it is, in words."""
        self.warnings = Notes(source, "warnings", "warning: ")


@dataclass(slots=True)
class _Entry:
    message: str
    alike: bool
    count: int = 0

    @property
    def more(self) -> bool:
        return self.alike and self.count > 1


def _by_place(item: tuple[tuple[Place, str], _Entry]) -> Place:
    return item[0][0]


def escape(text: str) -> str:
    """Make a text fit for one line of a terminal: no control character is left as it is."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shown(value: str) -> str:
    """Quote a value for a fault, cut where it is long."""
    return f"`{value if len(value) <= MOST_SHOWN else value[:MOST_SHOWN] + '...'}`"


def near(word: str, names: Iterable[str], cutoff: float = 0.6) -> str | None:
    """Return the name that a misspelt word most probably means."""
    if len(word) > 200:
        return None
    candidates = [name for _, name in zip(range(_NAMES_SEARCHED), names, strict=False)]
    folded = {name.casefold(): name for name in reversed(candidates)}
    if word.casefold() in folded:
        return folded[word.casefold()]
    found = difflib.get_close_matches(word, candidates, n=1, cutoff=cutoff)
    return found[0] if found else None


def did_you_mean(word: str, names: Iterable[str], cutoff: float = 0.6) -> str:
    """Return ` (did you mean `x`?)`, or nothing where no name is near."""
    meant = near(word, names, cutoff)
    return f" (did you mean `{meant}`?)" if meant and meant != word else ""
