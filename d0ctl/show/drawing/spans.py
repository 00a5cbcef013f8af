"""Lines of styled text: spans with the role of each, measured, cut and padded by columns."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from html import escape
from itertools import pairwise

from d0ctl.units import clean

Span = tuple[str, str]
"""A text and its role, such as `good` or `faint`; the empty role is plain text."""

Line = tuple[Span, ...]
"""The spans of one line."""

EMPTY: Line = ()

SOLID = frozenset({"match", "stale"})
"""Roles whose colour shows on blanks, too."""

ELLIPSIS = "…"

_WIDE = ((0x2630, 0x2637), (0x268A, 0x268F), (0x4DC0, 0x4DFF), (0x1D300, 0x1D376))
"""Signs that terminals draw in two columns since Unicode 16, which Python 3.11 does not know."""

_JOINED = (
    (0x1160, 0x11FF),
    (0xD7B0, 0xD7FB),
    (0x3164, 0x3164),
    (0xFFA0, 0xFFA0),
    (0x1F3FB, 0x1F3FF),
)
"""Signs that join the previous one: vowels and finals of Hangul, skin tones."""


@lru_cache(4096)
def cell_len(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return len(text) if text.isascii() else sum(map(_columns, text))


@lru_cache(4096)
def _columns(character: str) -> int:
    code = ord(character)
    if code < 0x300:
        return 1
    joined = any(first <= code <= last for first, last in _JOINED)
    if joined or unicodedata.category(character) in ("Mn", "Mc", "Me", "Cf"):
        return 0
    wide = any(first <= code <= last for first, last in _WIDE)
    return 2 if wide or unicodedata.east_asian_width(character) in "WF" else 1


def _front(text: str, columns: int) -> str:
    """Return as much of the front of a text as fits, without blanks at its end."""
    if text.isascii():
        return text[:columns].rstrip()
    end = 0
    for end, character in enumerate(text):
        columns -= _columns(character)
        if columns < 0:
            return text[:end].rstrip()
    return text


def width(line: Iterable[Span]) -> int:
    """Return how many columns a line takes."""
    return sum(cell_len(text) for text, _ in line)


def merged(line: Iterable[Span]) -> list[Span]:
    """Join neighbours of one role; blanks take their neighbour's, if that is invisible."""
    spans: list[Span] = []
    for text, role in line:
        if not text:
            continue
        if spans and role not in SOLID:
            before, same = spans[-1]
            if role == same or (same not in SOLID and text.isspace()):
                spans[-1] = before + text, same
                continue
        spans.append((text, role))
    return spans


def text(line: Iterable[Span]) -> str:
    """Return a line without its roles."""
    return "".join(text for text, _ in line)


def foreign(text: str | None) -> str:
    """Make a text from outside harmless, with columns that every terminal agrees on."""
    return clean(text or "").replace("\u00ad", "-").replace("\ufe0f", "")


def cut(text: str, columns: int, *, ellipsis: str = ELLIPSIS) -> str:
    """Cut a text that is too long for its columns, with an ellipsis at its end."""
    if cell_len(text) <= columns:
        return text
    if columns <= len(ellipsis):
        return ellipsis[: max(0, columns)]
    return _front(text, columns - len(ellipsis)) + ellipsis


def cut_front(text: str, columns: int, *, ellipsis: str = ELLIPSIS) -> str:
    """Cut the front of a text that is too long, such as a path, whose end matters most."""
    if cell_len(text) <= columns or columns <= len(ellipsis):
        return cut(text, columns, ellipsis=ellipsis)
    while text and cell_len(text) > columns - len(ellipsis):
        text = text[1:]
    return ellipsis + text


def cut_middle(text: str, columns: int, *, ellipsis: str = ELLIPSIS) -> str:
    """Cut the middle of a text that is too long, such as a name that ends with a number."""
    tail = (columns - len(ellipsis)) // 2
    if cell_len(text) <= columns or tail < 1:
        return cut(text, columns, ellipsis=ellipsis)
    head = _front(text, columns - len(ellipsis) - tail)
    return head + ellipsis + cut_front(text, tail, ellipsis="")


def pad(text: str, columns: int, *, right: bool = False, ellipsis: str = ELLIPSIS) -> str:
    """Cut or fill a text to exactly these columns, flush left or right."""
    text = cut(text, columns, ellipsis=ellipsis)
    blank = " " * (columns - cell_len(text))
    return blank + text if right else text + blank


def fit(line: Sequence[Span], columns: int, *, ellipsis: str = ELLIPSIS) -> Line:
    """Cut a line that is too long for its columns, without an ellipsis if only blanks go."""
    if cell_len("".join(text for text, _ in line).rstrip(" ")) <= columns:
        return _without_blanks(line, width(line) - columns)
    left, fitted = columns, []
    for index, (text, role) in enumerate(line):
        wide = cell_len(text)
        if wide > left or (wide == left and width(line[index + 1 :]) > 0):
            rest = text if wide > left else text + "x"
            fitted.append((cut(rest, left, ellipsis=ellipsis), role))
            break
        fitted.append((text, role))
        left -= wide
    return tuple(fitted)


def _without_blanks(line: Sequence[Span], over: int) -> Line:
    """Return a line without the last blanks, as many as are over."""
    shortened = list(line)
    while over > 0:
        text, role = shortened.pop()
        if len(text) > over:
            shortened.append((text[:-over], role))
        over -= len(text)
    return tuple(shortened)


def spread(left: Sequence[Span], right: Sequence[Span], columns: int) -> Line:
    """Put one part flush left and one flush right; the left one shrinks."""
    room = columns - width(right)
    if room < 4:
        return fit((*left, ("  ", ""), *right), columns)
    front = fit(left, room - bool(right and width(right)))
    return (*front, (" " * (room - width(front)), ""), *right)


def folded(line: Sequence[Span], columns: int, *, hanging: int = 2) -> list[Line]:
    """Break a line between words where it is too long; the rest is indented, and hangs in.

    A word that is too long stays whole: it is a path or a name that people copy.
    """
    whole = text(line)
    if width(line) <= columns:
        return [tuple(line)]
    indent = " " * (len(whole) - len(whole.lstrip()) + hanging)
    begins = [0]
    for word in re.finditer(r"\S+", whole):
        begun = whole[begins[-1] : word.end()]
        room = columns - len(indent) * (len(begins) > 1)
        if cell_len(begun) > room and whole[begins[-1] : word.start()].strip():
            begins.append(word.start())
    parts = [_part(line, begin, end) for begin, end in pairwise([*begins, len(whole)])]
    return [parts[0], *(((indent, ""), *part) for part in parts[1:])]


def _part(line: Sequence[Span], begin: int, end: int) -> Line:
    """Return the signs of a line from one position to another, without blanks at the end."""
    end = begin + len(text(line)[begin:end].rstrip())
    spans, at = [], 0
    for piece, role in line:
        spans.append((piece[max(0, begin - at) : max(0, end - at)], role))
        at += len(piece)
    return tuple((piece, role) for piece, role in spans if piece)


def wrap(text: str, columns: int, *, whole: bool = False) -> list[str]:
    """Break a text into lines of at most these columns, at blanks where possible.

    With `whole`, words that are too long stay whole.
    """
    lines, line = [], ""
    columns = max(1, columns)
    for word in text.split(" "):
        trial = f"{line} {word}" if line else word
        if cell_len(trial) <= columns:
            line = trial
            continue
        if line:
            lines.append(line)
        while cell_len(word) > columns and not whole:
            head = _front(word, columns) or word[:1]
            lines.append(head)
            word = word[len(head) :]
        line = word
    return [*lines, line] if line or not lines else lines


_STYLES = {
    "good": "color:green", "bad": "color:firebrick", "warn": "color:darkorange",
    "live": "color:darkcyan", "faint": "opacity:0.6", "command": "opacity:0.6",
    "strong": "font-weight:bold", "title": "font-weight:bold",
}  # fmt: skip
"""The style of each role; the others are plain."""


def as_html(lines: Iterable[Line]) -> str:
    """Return lines as one block for notebooks, in which no text from outside can be markup."""
    return "<pre>" + "\n".join("".join(map(_span, line)) for line in lines) + "</pre>"


def _span(span: tuple[str, str]) -> str:
    text, role = span
    style = _STYLES.get(role)
    return f'<span style="{style}">{escape(text)}</span>' if style else escape(text)
