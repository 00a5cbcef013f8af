"""The only place that lays out what is told about one thing: headed blocks, wrapped to a width."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from d0ctl_tui.draw.looks import Glyphs
from d0ctl_tui.draw.spans import EMPTY, Line, Span, cut, fit, foreign, pad, text, width, wrap

WORDS, ROOM = 16, 44
"""Above so many columns, the last cell of a table goes on lines of its own, with less room."""

PROMPT, BROKEN = "  $ ", " \\"
"""What a command begins with, and what a line of it ends with that goes on in the next."""

PATH = re.compile(r"(?<![\w/.-])[A-Za-z_][\w.+-]*(?:/\d+){1,3}(?![\w/])")


@dataclass(slots=True)
class Sheet:
    """Lines that grow downwards."""

    columns: int
    glyphs: Glyphs
    lines: list[Line] = field(default_factory=list)

    def head(self, words: str, about: str = "") -> None:
        """A heading, after a blank line unless it comes first."""
        if self.lines:
            self.lines.append(EMPTY)
        self.add((words, "title"), (f"  {about}" if about else "", "faint"))

    def add(self, *spans: Span) -> None:
        """A line, cut where it is too long."""
        self.lines.append(fit(spans, self.columns, ellipsis=self.glyphs.ellipsis))

    def say(self, words: str, look: str = "plain", *, indent: str = "") -> None:
        """A text from outside, wrapped."""
        room = max(8, self.columns - len(indent))
        for index, line in enumerate(wrap(foreign(words), room)):
            self.lines.append(((indent if not index else " " * len(indent), "faint"), (line, look)))

    def table(self, rows: Sequence[Sequence[Span]], *, give: int = -1) -> None:
        """Rows in columns, of which the one numbered `give` gives way to a narrow screen.

        Where it is the last and too little room is left, it goes below its row and is wrapped.
        """
        if not rows:
            return
        widths = [max(width([row[i]]) for row in rows) for i in range(len(rows[0]))]
        there = [i for i, columns in enumerate(widths) if columns]
        rows = [[row[i] for i in there] for row in rows]
        widths, count = [widths[i] for i in there], len(there)
        spare = self.columns - 2 * count - sum(widths)
        below = spare < 0 and give == -1 and widths[-1] > WORDS and widths[-1] + spare < ROOM
        if spare < 0 and not below:
            widths[give] = max(6, widths[give] + spare)
        for row in rows:
            cells: list[Span] = []
            for (words, look), columns in zip(row, widths, strict=True):
                cells += [("  ", ""), (pad(words, columns, ellipsis=self.glyphs.ellipsis), look)]
            self.add(*(cells[:-2] if below else cells))
            if below and row[-1][0]:
                self.say(row[-1][0], row[-1][1], indent=" " * 6)

    def quote(self, words: str, most: int) -> None:
        """The last lines of an output, as they are."""
        for line in words.rstrip().splitlines()[-most:]:
            bar = f"  {self.glyphs.upright} "
            room = self.columns - len(bar)
            shown = cut(foreign(line.expandtabs()), room, ellipsis=self.glyphs.ellipsis)
            self.add((bar, "faint"), (shown, "plain"))

    def commands(self, words: Iterable[str]) -> None:
        """What to type, each once; a long one goes on in a second line, as a shell takes it."""
        for command in dict.fromkeys(words):
            front, *rest = wrap(foreign(command), max(8, self.columns - 6))
            for index, line in enumerate([front, *rest]):
                mark = (PROMPT if not index else " " * 6, "faint")
                self.lines.append((mark, (line + BROKEN * (index < len(rest)), "command")))


def command_at(lines: Sequence[Line], number: int) -> str | None:
    """The command that stands on a line, and on those that it goes on in."""
    if not any(look == "command" for _, look in lines[number]):
        return None
    first = last = number
    while first and lines[first][0][0] != PROMPT:
        first -= 1
    while text(lines[last]).endswith(BROKEN) and last + 1 < len(lines):
        last += 1
    parts = [text(line[1:]).removesuffix(BROKEN) for line in lines[first : last + 1]]
    return " ".join(parts)


def path_at(line: Line, column: int | None) -> str | None:
    """The path of a line or package in a column; the first of the line without one."""
    for found in PATH.finditer(text(line)):
        if column is None or found.start() <= column < found.end():
            return found[0]
    return None
