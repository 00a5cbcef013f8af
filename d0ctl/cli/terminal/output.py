"""The terminal: data goes to stdout, messages to stderr, colours only if a person reads."""

import json
import os
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Concatenate, ParamSpec, TextIO, TypeVar

from d0ctl.cli.session import settings
from d0ctl.errors import BadUsage
from d0ctl.show.drawing import signs
from d0ctl.show.drawing.sheet import ENDLESS, Cell, Sheet
from d0ctl.show.drawing.signs import ASCII, UNICODE, Glyphs
from d0ctl.show.drawing.spans import Line, text

T = TypeVar("T")
P = ParamSpec("P")

_CODES = {
    "good": "32", "bad": "31", "warn": "33", "live": "36", "faint": "2", "command": "2",
    "strong": "1", "title": "1",
}  # fmt: skip
"""The escape code of each role; the others are plain."""


def emit(*cells: Cell) -> None:
    """Print a line of data."""
    print(_encodable("".join(map(_painted, cells)), sys.stdout))


def show(sheet: Sheet) -> None:
    """Print a sheet."""
    for line in lines(sheet):
        print(line)


def draw(
    put: Callable[Concatenate[Sheet, P], object], *positional: P.args, **named: P.kwargs
) -> None:
    """Print what a function puts on a sheet."""
    page = sheet()
    put(page, *positional, **named)
    show(page)


def lines(sheet: Sheet) -> list[str]:
    """Return the lines of a sheet for stdout, coloured."""
    return [_encodable("".join(map(_painted, _without_end(line))), sys.stdout)
            for line in sheet.lines]  # fmt: skip


def _without_end(line: Line) -> Iterable[Cell]:
    """Return the spans of a line without the blanks at its end."""
    whole = text(line)
    return _shorter(line, len(whole) - len(whole.rstrip()))


def _shorter(line: Line, blank: int) -> Iterable[Cell]:
    """Return the spans of a line without the blanks at its end."""
    spans = list(line)
    while blank:
        span_text, role = spans.pop()
        rest = span_text[: max(0, len(span_text) - blank)]
        blank -= len(span_text) - len(rest)
        spans += [(rest, role)] if rest else []
    return spans


def sheet(columns: int = ENDLESS) -> Sheet:
    """Return an empty sheet for stdout; without a width its lines are as long as they need."""
    return Sheet(columns, glyphs=glyphs(), archive=settings.archive)


def terminal_columns() -> int:
    """Return the width of the terminal on stdout; ENDLESS if there is none, or it is unknown."""
    if not is_terminal(sys.stdout):
        return ENDLESS
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or ENDLESS
    except OSError:
        return ENDLESS


def glyphs() -> Glyphs:
    """Return the signs that stdout can show."""
    return UNICODE if speaks_unicode(sys.stdout) else ASCII


def emit_json(document: Any) -> None:
    """Print one JSON document, always as plain ASCII without control characters."""
    print(json.dumps(document, indent=2).replace("\x7f", "\\u007f"))


def say(text: str) -> None:
    """Print a message."""
    print(_encodable(text, sys.stderr), file=sys.stderr, flush=True)


def _encodable(text: str, stream: TextIO) -> str:
    """Text that the stream can encode; other characters are escaped."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def is_terminal(stream: TextIO) -> bool:
    """Return whether a person looks at it."""
    try:
        return stream.isatty()
    except ValueError:
        return False


def paint(text: str | None, role: str) -> str:
    """Colour a text by its role if stdout is a terminal and nothing forbids colours."""
    code = _CODES.get(role)
    if not text or code is None or os.environ.get("NO_COLOR") or not is_terminal(sys.stdout):
        return text or ""
    return text if os.environ.get("TERM") == "dumb" else f"\x1b[{code}m{text}\x1b[0m"


def _painted(cell: Cell) -> str:
    if isinstance(cell, list):
        return "".join(paint(*span) for span in cell)
    return paint(*cell) if isinstance(cell, tuple) else cell or ""


def speaks_unicode(stream: TextIO) -> bool:
    """Return whether glyphs beyond ASCII can be shown."""
    return (stream.encoding or "").lower().replace("-", "") == "utf8"


def mark(status: str) -> str:
    """Return a status as glyph and word."""
    return "".join(map(_painted, signs.mark(status, glyphs())))


def glyph(status: str) -> str:
    """Return the glyph of a status, for use beside its word."""
    return _painted(signs.glyph(status, glyphs()))


def table(rows: Sequence[Sequence[Cell]], *, right: Collection[int] = (), indent: int = 0) -> None:
    """Print rows in columns of the terminal; those numbered in `right` are flush right."""
    page = sheet(terminal_columns())
    page.rows(rows, right=right, indent=indent)
    show(page)


def print_list(
    key: str,
    entries: Sequence[T],
    document: Callable[[T], Any],
    cells: Callable[[T], Sequence[Cell]],
    nothing: str,
    *,
    json: bool,
    right: Collection[int] = (),
) -> None:
    """Print entries, as one document or as a table; without any, say that there is nothing."""
    if json:
        emit_json({key: [document(entry) for entry in entries]})
    elif entries:
        table([cells(entry) for entry in entries], right=right)
    else:
        emit(nothing)


def can_ask() -> bool:
    """Return whether a person is there to answer."""
    return is_terminal(sys.stdin) and is_terminal(sys.stderr)


def confirmed(question: str) -> bool:
    """Ask the person on the terminal; no answer is no."""
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def refuse_both(first: bool, other: bool, names: str) -> None:
    """Raise BadUsage if two options that exclude each other were given."""
    if first and other:
        raise BadUsage(f"{names} exclude each other")
