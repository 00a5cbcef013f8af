"""The terminal: data goes to stdout, messages to stderr, colours only if a person reads."""

import json
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from shlex import quote
from typing import Any, Concatenate, ParamSpec, TextIO, TypeVar

from d0ctl.cli.completion_table import HEADINGS
from d0ctl.cli.session import settings
from d0ctl.errors import BadUsage
from d0ctl.show.drawing.sheet import ENDLESS, Cell, Sheet
from d0ctl.show.drawing.signs import ASCII, UNICODE, Glyphs
from d0ctl.show.drawing.spans import Line, Span, folded, text

T = TypeVar("T")
P = ParamSpec("P")

LOOK_S = 0.2
"""How often it is looked whether a person pressed Ctrl-C, while an answer is awaited."""

_CODES = {
    "good": "32", "bad": "31", "warn": "33", "live": "36", "faint": "2", "command": "2",
    "strong": "1", "title": "1",
}  # fmt: skip
"""The escape code of each role; the others are plain."""


def emit(*cells: Cell) -> None:
    """Print a line; on a terminal that is too narrow for it, it breaks between words."""
    line = [(at_home(text), role) for cell in cells for text, role in _spans(cell)]
    for part in folded(line, terminal_columns()):
        print(_encodable(_painted(part), sys.stdout))


def emit_text(text: str) -> None:
    """Print lines that programs or editors read, as they are."""
    print(_encodable(text, sys.stdout))


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
    return [_encodable(_painted(_without_end(line)), sys.stdout)
            for line in sheet.lines]  # fmt: skip


def _without_end(line: Line) -> Iterable[Span]:
    """Return the spans of a line without the blanks at its end."""
    whole = text(line)
    return _shorter(line, len(whole) - len(whole.rstrip()))


def _shorter(line: Line, blank: int) -> Iterable[Span]:
    """Return the spans of a line without the blanks at its end."""
    spans = list(line)
    while blank:
        span_text, role = spans.pop()
        rest = span_text[: max(0, len(span_text) - blank)]
        blank -= len(span_text) - len(rest)
        spans += [(rest, role)] if rest else []
    return spans


def sheet(unlimited: int = ENDLESS) -> Sheet:
    """Return an empty sheet as wide as the terminal; elsewhere its lines may be `unlimited`."""
    columns = terminal_columns()
    return Sheet(unlimited if columns == ENDLESS else columns, whole=True, glyphs=glyphs(),
                 archive=settings.archive, completed=at_home)  # fmt: skip


def terminal_columns(stream: TextIO | None = None) -> int:
    """Return the width of the terminal on a stream; ENDLESS if there is none, or it is unknown."""
    stream = stream or sys.stdout
    if not is_terminal(stream):
        return ENDLESS
    try:
        return os.get_terminal_size(stream.fileno()).columns or ENDLESS
    except OSError:
        return ENDLESS


def glyphs() -> Glyphs:
    """Return the signs that stdout can show."""
    return UNICODE if speaks_unicode(sys.stdout) else ASCII


def emit_json(document: Any) -> None:
    """Print one JSON document, always as plain ASCII without control characters."""
    print(json.dumps(document, indent=2).replace("\x7f", "\\u007f"))


def say(message: str) -> None:
    """Print a message; on a terminal that is too narrow for it, it breaks between words."""
    columns = terminal_columns(sys.stderr)
    parts = [
        part for line in at_home(message).split("\n") for part in _folded_message(line, columns)
    ]
    print(_encodable("\n".join(parts), sys.stderr), file=sys.stderr, flush=True)


def at_home(text: str) -> str:
    """Return a text whose commands act on the home that `--home` of this command named."""
    if settings.home is None:
        return text
    names = "|".join(name for _, names in HEADINGS.values() for name in names)
    command = rf"(?<![\w./-])d0ctl (?=(?:--archive \S+ )?(?:{names})\b)"
    option = quote(str(settings.home))
    return re.sub(command, lambda _: f"d0ctl --home {option} ", text)


def _folded_message(line: str, columns: int) -> Iterable[str]:
    """Return the lines of a message; a command to type stays whole, so that it can be copied."""
    is_command = line.lstrip().startswith("d0ctl ")
    return [line] if is_command else map(text, folded([(line, "plain")], columns))


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


def _painted(line: Iterable[Span]) -> str:
    return "".join(paint(*span) for span in line)


def _spans(cell: Cell) -> Sequence[Span]:
    if isinstance(cell, list):
        return cell
    text, role = cell if isinstance(cell, tuple) else (cell, "plain")
    return [(text, role)] if text else []


def speaks_unicode(stream: TextIO) -> bool:
    """Return whether glyphs beyond ASCII can be shown."""
    return (stream.encoding or "").lower().replace("-", "") == "utf8"


def table(rows: Sequence[Sequence[Cell]], *, right: Collection[int] = (), indent: int = 0) -> None:
    """Print rows in columns of the terminal; those numbered in `right` are flush right."""
    page = sheet()
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
    return ask(f"{question} [y/N] ").strip().lower() in ("y", "yes")


def ask(question: str) -> str:
    """Ask the person on the terminal; return the line that is typed, empty at its end."""
    print(question, end="", file=sys.stderr, flush=True)
    if is_terminal(sys.stdin):
        _wait_for_line()
    answer = sys.stdin.readline()
    if not answer.endswith("\n"):
        print(file=sys.stderr, flush=True)
    return answer


def _wait_for_line() -> None:
    """Wait until a line was typed: a Ctrl-C just before a read would be seen only after that."""
    from select import select  # late: few commands ask

    while not select([sys.stdin], [], [], LOOK_S)[0]:
        pass


def refuse_both(first: bool, other: bool, names: str) -> None:
    """Raise BadUsage if two options that exclude each other were given."""
    if first and other:
        raise BadUsage(f"{names} exclude each other")
