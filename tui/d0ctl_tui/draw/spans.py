"""A line as pieces of text with the names of their looks, cut and padded by terminal columns."""

from collections.abc import Iterable, Sequence

from rich.cells import cell_len, set_cell_size

from d0ctl.units import clean

Span = tuple[str, str]
"""A text and the name of its look; the empty name is plain text."""

Line = tuple[Span, ...]
"""What stands on one line of the screen."""

EMPTY: Line = ()

SOLID = frozenset({"match", "stale"})
"""Looks that show on blanks, too."""

ELLIPSIS = "…"


def width(line: Iterable[Span]) -> int:
    """How many columns a line takes."""
    return sum(cell_len(text) for text, _ in line)


def merged(line: Iterable[Span]) -> list[Span]:
    """The same line in fewer pieces: blanks have no look of their own, where it does not show."""
    pieces: list[Span] = []
    for words, look in line:
        if not words:
            continue
        if pieces and look not in SOLID:
            before, same = pieces[-1]
            if look == same or (same not in SOLID and words.isspace()):
                pieces[-1] = before + words, same
                continue
        pieces.append((words, look))
    return pieces


def text(line: Iterable[Span]) -> str:
    """A line without its looks."""
    return "".join(text for text, _ in line)


def foreign(words: str | None) -> str:
    """A text from outside, harmless and of columns that every terminal agrees on."""
    return clean(words or "").replace("\u00ad", "-")


def cut(words: str, columns: int, *, ellipsis: str = ELLIPSIS) -> str:
    """A text that takes at most so many columns; what is cut off is told by an ellipsis."""
    if cell_len(words) <= columns:
        return words
    if columns <= len(ellipsis):
        return ellipsis[: max(0, columns)]
    return set_cell_size(words, columns - len(ellipsis)).rstrip() + ellipsis


def cut_front(words: str, columns: int, *, ellipsis: str = ELLIPSIS) -> str:
    """A text that loses its front where it is too long, as a path whose end tells most."""
    if cell_len(words) <= columns or columns <= len(ellipsis):
        return cut(words, columns, ellipsis=ellipsis)
    while words and cell_len(words) > columns - len(ellipsis):
        words = words[1:]
    return ellipsis + words


def pad(words: str, columns: int, *, right: bool = False, ellipsis: str = ELLIPSIS) -> str:
    """A text that takes exactly so many columns, flush left or right."""
    words = cut(words, columns, ellipsis=ellipsis)
    blank = " " * (columns - cell_len(words))
    return blank + words if right else words + blank


def fit(line: Sequence[Span], columns: int, *, ellipsis: str = ELLIPSIS) -> Line:
    """A line that takes at most so many columns."""
    left, fitted = columns, []
    for index, (words, look) in enumerate(line):
        wide = cell_len(words)
        if wide > left or (wide == left and any(more for more, _ in line[index + 1 :])):
            rest = words if wide > left else words + "x"
            fitted.append((cut(rest, left, ellipsis=ellipsis), look))
            break
        fitted.append((words, look))
        left -= wide
    return tuple(fitted)


def spread(left: Sequence[Span], right: Sequence[Span], columns: int) -> Line:
    """A line with one part flush left and one flush right, of which the left gives way."""
    room = columns - width(right)
    if room < 4:
        return fit((*left, ("  ", ""), *right), columns)
    front = fit(left, room - 1)
    return (*front, (" " * (room - width(front)), ""), *right)


def wrap(words: str, columns: int) -> list[str]:
    """A text in lines of at most so many columns, broken at blanks where that can be."""
    lines, line = [], ""
    columns = max(1, columns)
    for word in words.split(" "):
        trial = f"{line} {word}" if line else word
        if cell_len(trial) <= columns:
            line = trial
            continue
        if line:
            lines.append(line)
        while cell_len(word) > columns:
            head = set_cell_size(word, columns).rstrip() or word[:1]
            lines.append(head)
            word = word[len(head) :]
        line = word
    return [*lines, line] if line or not lines else lines
