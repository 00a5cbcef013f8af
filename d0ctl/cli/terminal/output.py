"""The only place that writes to the terminal: data to stdout, talk to stderr."""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from d0ctl.errors import BadUsage
from d0ctl.model import Counts, by_status
from d0ctl.units import count

_COLOURS = {
    "red": "31", "green": "32", "yellow": "33", "cyan": "36", "dim": "2", "bold": "1",
}  # fmt: skip

_LOOKS = {
    "successful": ("✔", "+", "green"),
    "failed": ("✘", "x", "red"),
    "launched": ("▶", ">", "cyan"),
    "running": ("▶", ">", "cyan"),
    "scheduled": ("◌", "o", "cyan"),
    "unscheduled": ("·", ".", ""),
    "submitted": ("·", ".", ""),
    "held": ("‖", "=", "yellow"),
    "paused": ("‖", "=", "yellow"),
    "unreachable": ("?", "?", "red"),
    "stands still": ("✘", "x", "red"),
    "canceled": ("⊘", "-", "dim"),
    "up": ("✔", "+", "green"),
    "down": ("✘", "x", "red"),
    "unknown": ("·", ".", ""),
}

BAR = 24
"""How many characters a bar has."""


def emit(text: str = "") -> None:
    """Print a line of data."""
    print(_encodable(text, sys.stdout))


def emit_json(document: Any) -> None:
    """Print one JSON document; whatever is in it, it is plain ASCII without control characters."""
    print(json.dumps(document, indent=2).replace("\x7f", "\\u007f"))


def say(text: str) -> None:
    """Print a line of talk."""
    print(_encodable(text, sys.stderr), file=sys.stderr, flush=True)


def _encodable(text: str, stream: TextIO) -> str:
    """Text that the stream can carry; what it can't is shown escaped."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def is_terminal(stream: TextIO) -> bool:
    """Whether a person looks at it."""
    try:
        return stream.isatty()
    except ValueError:
        return False


def paint(text: str, *colours: str) -> str:
    """Colour a text of stdout, where a terminal shows it and nobody minds."""
    codes = ";".join(_COLOURS[colour] for colour in colours if colour)
    if not codes or os.environ.get("NO_COLOR") or not is_terminal(sys.stdout):
        return text
    if os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[{codes}m{text}\x1b[0m"


def speaks_unicode(stream: TextIO) -> bool:
    """Whether glyphs beyond ASCII arrive."""
    return (stream.encoding or "").lower().replace("-", "") == "utf8"


def mark(status: str) -> str:
    """A status as glyph and word."""
    glyph, plain, colour = _LOOKS.get(status, ("·", ".", ""))
    return paint(f"{glyph if speaks_unicode(sys.stdout) else plain} {status}", colour)


def glyph(status: str) -> str:
    """A status as its glyph alone, beside a word that says the same."""
    return mark(status).replace(f" {status}", "")


def bar(counts: Counts, width: int = BAR) -> str:
    """How far a job or stage is: successful, launched, failed, canceled, and the rest."""
    totals = by_status(counts)
    everything = sum(totals.values()) or 1
    glyphs = "█▓▒░·" if speaks_unicode(sys.stdout) else "#>x- "
    parts = (
        ("successful", "green"), ("launched", "cyan"), ("failed", "red"), ("canceled", "dim"),
    )  # fmt: skip
    text, used, passed = "", 0, 0
    for (status, colour), sign in zip(parts, glyphs, strict=False):
        passed += totals[status]
        end = max(passed * width // everything, used + bool(totals[status]))
        end = min(end, width)
        text += paint(sign * (end - used), colour)
        used = end
    return text + paint(glyphs[-1] * (width - used), "dim")


def tally(counts: Counts, blocked: bool = False) -> str:
    """The counts that are not zero, in words."""
    totals = by_status(counts)
    held, waiting = counts.get("held", 0), counts.get("waiting", 0)
    cooling = counts.get("cooloff", 0)
    dropped, unreachable = counts.get("dropped", 0), counts.get("unreachable", 0)
    words = (
        (totals["launched"] - unreachable, "running", "cyan"),
        (unreachable, "unreachable", "red"),
        (totals["failed"], "failed", "red"),
        (held, "held", "yellow"),
        (totals["scheduled"], "scheduled", "cyan"),
        (cooling, "cooling off", "yellow"),
        (totals["unscheduled"] - held - waiting - cooling, "ready", ""),
        (waiting, "blocked" if blocked else "waiting", "red" if blocked else ""),
        (totals["canceled"] - dropped, "canceled", "dim"),
        (dropped, "dropped", "dim"),
    )
    return "  ".join(paint(f"{count(n)} {word}", colour) for n, word, colour in words if n)


def table(rows: Sequence[Sequence[str]], *, right: Iterable[int] = (), indent: str = "") -> None:
    """Print rows in columns; those numbered in `right` are flush right."""
    if not rows:
        return
    widths = [max(_width(row[i]) for row in rows) for i in range(len(rows[0]))]
    flush = set(right)
    for row in rows:
        cells = [
            " " * (widths[i] - _width(cell)) + cell
            if i in flush
            else cell + " " * (widths[i] - _width(cell))
            for i, cell in enumerate(row)
        ]
        emit((indent + "  ".join(cells)).rstrip())


def _width(text: str) -> int:
    """How many columns a text takes, colours aside."""
    if "\x1b" not in text:
        return len(text)
    import re

    return len(re.sub(r"\x1b\[[0-9;]*m", "", text))


def can_ask() -> bool:
    """Whether a person is there to answer."""
    return is_terminal(sys.stdin) and is_terminal(sys.stderr)


def confirmed(question: str) -> bool:
    """Ask the person on the terminal; no answer is no."""
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def refuse_both(one: bool, other: bool, names: str) -> None:
    """Raise BadUsage where two options that exclude each other were given."""
    if one and other:
        raise BadUsage(f"{names} exclude each other")
