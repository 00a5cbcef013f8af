"""The same picture in fewer bytes: colours and attributes are sent only when they change.

Textual sends all of them for each piece of text, and resets them after it. That is more than
half of the bytes of a screen with true colours, and noticeable on a slow line. Long blanks are
erased instead of sent where they have the terminal's own paper, and where the terminal erases to
another one, too.
"""

import re
from typing import NamedTuple

_SEQUENCE = re.compile(r"\x1b\[([0-9;]*)m")
_MOVES = re.compile(r"(?:\x1b\[[0-9;]*H|[\r\n])+")
_LONG_BLANK = re.compile(r" {12,}")
_EXTENDED = {"2": 5, "5": 3}
"""How many numbers a colour takes after 38 and 48, by its kind."""

_OFF = {"1": "22", "2": "22", "3": "23", "4": "24", "7": "27", "9": "29"}
"""The number that ends an attribute; `22` ends two."""

_SEEN_ON_BLANKS = frozenset({"4", "7", "9", "21", "53"})
"""Attributes that are visible on blanks: lines, and reverse."""


class TextStyle(NamedTuple):
    """How text is drawn: attributes such as bold, ink and paper, by the numbers of sequences."""

    attributes: frozenset[str] = frozenset()
    ink: str = "39"
    paper: str = "49"


PLAIN = TextStyle()


def lean(data: str, erases_to_paper: bool = False) -> str:
    """Return output that draws the same, and also leaves the terminal without colours."""
    pieces: list[str] = []
    shown = wanted = PLAIN
    end = 0
    for found in _SEQUENCE.finditer(data):
        text = data[end : found.start()]
        end = found.end()
        if text:
            shown = _add(pieces, text, shown, wanted, erases_to_paper)
        wanted = _after(wanted, found[1].split(";"))
    text = data[end:]
    shown = _add(pieces, text, shown, wanted, erases_to_paper) if text else shown
    pieces.append(_change(shown, wanted))
    return "".join(pieces)


def _add(
    pieces: list[str], text: str, shown: TextStyle, wanted: TextStyle, erases_to_paper: bool
) -> TextStyle:
    """Add a text in its look; moves of the cursor need none."""
    if _MOVES.fullmatch(text):
        pieces.append(text)
        return shown
    if not text.strip(" ") and not _SEEN_ON_BLANKS & (shown.attributes | wanted.attributes):
        wanted = shown._replace(paper=wanted.paper)
    change = _change(shown, wanted)
    if pieces and not change:
        text = pieces.pop() + text
    is_erased = erases_to_paper or wanted.paper == PLAIN.paper
    if is_erased and not _SEEN_ON_BLANKS & wanted.attributes:
        text = _LONG_BLANK.sub(_erase, text)
    pieces += (change, text)
    return wanted


def _erase(blank: re.Match[str]) -> str:
    """Return what erases as many cells, and goes behind them."""
    return f"\x1b[{len(blank[0])}X\x1b[{len(blank[0])}C"


def _change(old: TextStyle, new: TextStyle) -> str:
    """Return the shortest sequence from one look to another."""
    if old == new:
        return ""
    if new == PLAIN:
        return "\x1b[0m"
    ended = {_OFF.get(attribute, "0") for attribute in old.attributes - new.attributes}
    base = PLAIN if "0" in ended else old
    numbers = ["0"] if "0" in ended else sorted(ended)
    again = {attribute for attribute in new.attributes if _OFF.get(attribute) in ended}
    numbers += sorted((new.attributes - base.attributes) | again)
    numbers += [new.ink] * (new.ink != base.ink) + [new.paper] * (new.paper != base.paper)
    return f"\x1b[{';'.join(numbers)}m"


def _after(style: TextStyle, numbers: list[str]) -> TextStyle:
    """Return the look after a sequence of these numbers."""
    rest = list(numbers)
    while rest:
        length = _EXTENDED.get(rest[1], 1) if rest[0] in ("38", "48") and len(rest) > 1 else 1
        first, whole = rest[0], ";".join(rest[:length])
        del rest[:length]
        if first in ("", "0"):
            style = PLAIN
        elif first in _OFF.values():
            left = {attribute for attribute in style.attributes if _OFF.get(attribute) != first}
            style = style._replace(attributes=frozenset(left))
        elif first in ("38", "39") or (len(first) == 2 and first[0] in "39" and first[1] < "8"):
            style = style._replace(ink=whole)
        elif len(first) == 3 or (len(first) == 2 and first[0] == "4"):
            style = style._replace(paper=whole)
        else:
            style = style._replace(attributes=style.attributes | {whole})
    return style
