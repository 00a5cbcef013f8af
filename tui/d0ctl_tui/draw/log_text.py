"""A line of a log for display: its last overprint, its colours, and no cursor moves."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from d0ctl.show.drawing.spans import Line, Span, cell_len, foreign, width
from d0ctl_tui.draw import log_search

_SGR = re.compile(r"\x1b\[([0-9;:]{0,64})m")

_COLOURS = {0: "faint", 1: "bad", 2: "good", 3: "warn", 4: "live", 5: "mark", 6: "live", 7: "plain"}
"""The looks for the eight colours of a terminal, in their order."""

_EXTRA = {5: 1, 2: 3}
"""How many numbers follow `38;5` and `38;2`."""


def spans(text: str) -> list[Span]:
    """Return the line as a terminal would show it after its carriage returns, with its colours."""
    text = _last_overprint(text).expandtabs()
    found: list[Span] = []
    role, at = "plain", 0
    for escape in _SGR.finditer(text):
        if escape.start() > at:
            found.append((foreign(text[at : escape.start()]), role))
        role, at = _role_after(escape[1], role), escape.end()
    return [*found, (foreign(text[at:]), role)] if at < len(text) or not found else found


def _last_overprint(text: str) -> str:
    pieces = [piece for piece in text.split("\r") if piece]
    return pieces[-1] if pieces else ""


def _role_after(codes: str, before: str) -> str:
    numbers = [int(code) if code.isdigit() else 0 for code in re.split("[;:]", codes)]
    role, at = before, 0
    while at < len(numbers):
        code = numbers[at]
        if code in (0, 39):
            role = "plain"
        elif code == 1 and role == "plain":
            role = "strong"
        elif code == 2 and role == "plain":
            role = "faint"
        elif 30 <= code <= 37 or 90 <= code <= 97:
            role = _COLOURS[code % 10]
        elif code in (38, 48):
            kind = numbers[at + 1] if at + 1 < len(numbers) else 0
            if code == 38 and kind == 5 and at + 2 < len(numbers) and numbers[at + 2] < 16:
                role = _COLOURS[numbers[at + 2] % 8]
            at += 1 + _EXTRA.get(kind, 0)
        at += 1
    return role


def marked(line: Iterable[Span], found: str) -> list[Span]:
    """Return the line with what is searched highlighted, across colours."""
    pieces = list(line)
    edges = log_search.parse(found).edges("".join(piece for piece, _ in pieces))
    result: list[Span] = []
    begin = 0
    for piece, role in pieces:
        end = begin + len(piece)
        for first, last in edges:
            if last <= begin or first >= end:
                continue
            before = piece[: max(0, first - begin)]
            result.append((before, role))
            result.append((piece[max(0, first - begin) : last - begin], "match"))
            piece, begin = piece[last - begin :] if last < end else "", min(last, end)
        if piece:
            result.append((piece, role))
        begin = end
    return [span for span in result if span[0]]


def wrapped(line: Iterable[Span], columns: int) -> list[Line]:
    """Return the line in as many rows as it takes."""
    rows: list[list[Span]] = [[]]
    room = columns = max(2, columns)
    for character, role in _characters(line):
        wide = cell_len(character)
        if wide > room:
            rows.append([])
            room = columns
        rows[-1].append((character, role))
        room -= wide
    return [_joined(row) for row in rows]


def shifted(line: Sequence[Span], left: int, columns: int, ellipsis: str) -> Line:
    """Return the part of the line from a column on; dots stand for hidden text at a side."""
    whole, dots = width(line), cell_len(ellipsis)
    if not left and whole <= columns:
        return tuple(line)
    begin = left + dots if left else 0
    end = left + columns - (dots if whole > left + columns else 0)
    seen: list[Span] = []
    at = 0
    for character, role in _characters(line):
        if at >= begin and at + cell_len(character) <= end:
            seen.append((character, role))
        at += cell_len(character)
        if at >= end:
            break
    front: Line = ((ellipsis, "faint"),) if left else ()
    back: Line = ((ellipsis, "faint"),) if whole > left + columns else ()
    return (*front, *_joined(seen), *back)


def _characters(line: Iterable[Span]) -> Iterator[Span]:
    for piece, role in line:
        yield from ((character, role) for character in piece)


def _joined(characters: Iterable[Span]) -> Line:
    runs = groupby(characters, key=lambda span: span[1])
    return tuple(("".join(character for character, _ in run), role) for role, run in runs)
