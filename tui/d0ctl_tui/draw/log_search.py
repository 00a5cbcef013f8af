"""The text that is searched in a log: words, or after `~` a regular expression."""

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from d0ctl.errors import BadUsage
from d0ctl.store.views.finding.wide_search import EXPRESSION

if TYPE_CHECKING:
    from regex import Match, Pattern

REACH = 4096
"""How many bytes a match of a regular expression may have."""

LONGEST_S = 2.0
"""How long a regular expression may take for a piece of a log."""

ESCAPED = "surrogateescape"
"""Bytes that are no UTF-8 keep their places."""


class Wanted(Protocol):
    """A text that is searched, ignoring case."""

    @property
    def reach(self) -> int:
        """How many bytes beyond its first one a match may have."""

    def start(self, piece: bytes, begin: int, end: int, *, last: bool) -> int | None:
        """Return where the first or the last match in a piece begins, from `begin`, before `end`.

        Raises BadUsage if that takes too long.
        """

    def edges(self, line: str) -> list[tuple[int, int]]:
        """Return where matches in a line begin and end."""


@lru_cache(8)
def parse(text: str) -> Wanted:
    """Return what a person has typed as something to search. Raises BadUsage."""
    is_expression = text.startswith(EXPRESSION) and text != EXPRESSION
    return Expression(text.removeprefix(EXPRESSION)) if is_expression else Words(text)


class Words:
    """Words as they are written."""

    def __init__(self, text: str) -> None:
        self._text = text.lower()
        self._bytes = text.encode().lower()
        self.reach = max(0, len(self._bytes) - 1)

    def start(self, piece: bytes, begin: int, end: int, *, last: bool) -> int | None:
        """Return where the first or the last match begins."""
        low = piece.lower()
        find = low.rfind if last else low.find
        position = find(self._bytes, begin, end + self.reach)
        return position if position >= 0 else None

    def edges(self, line: str) -> list[tuple[int, int]]:
        """Return where the words are; nothing where another case has another length."""
        low = line.lower()
        if not self._text or len(low) != len(line):
            return []
        found: list[tuple[int, int]] = []
        at = low.find(self._text)
        while at >= 0:
            found.append((at, at + len(self._text)))
            at = low.find(self._text, found[-1][1])
        return found


class Expression:
    """A regular expression; a match is within a line."""

    reach = REACH

    def __init__(self, pattern: str) -> None:
        import regex  # when it is asked for: it takes 20 ms

        self._pattern = pattern
        try:
            self._regex: Pattern[str] = regex.compile(pattern, regex.IGNORECASE | regex.MULTILINE)
        except regex.error as error:
            raise BadUsage(f"`{pattern}` is not a regular expression: {error}") from error

    def start(self, piece: bytes, begin: int, end: int, *, last: bool) -> int | None:
        """Return where the first or the last match begins."""
        text = piece.decode(errors=ESCAPED)
        first = len(piece[:begin].decode(errors=ESCAPED))
        beyond = len(piece[:end].decode(errors=ESCAPED))
        found: int | None = None
        for match in self._matches(text, first):
            if match.start() >= beyond:
                break
            found = match.start()
            if not last:
                break
        return None if found is None else len(text[:found].encode(errors=ESCAPED))

    def edges(self, line: str) -> list[tuple[int, int]]:
        """Return where matches are; nothing if that takes too long."""
        try:
            return [match.span() for match in self._matches(line, 0)]
        except BadUsage:
            return []

    def _matches(self, text: str, begin: int) -> "Iterator[Match[str]]":
        try:
            for match in self._regex.finditer(text, begin, timeout=LONGEST_S):
                if match[0]:
                    yield match
        except TimeoutError as error:
            raise BadUsage(f"`{self._pattern}` takes too long: use fewer `*` and `+`") from error
