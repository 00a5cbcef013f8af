"""A sheet: blocks of lines about one thing, with headings, for a width."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence

from msgspec import Struct, field

from d0ctl.show.drawing.archived import in_archive, is_possible
from d0ctl.show.drawing.signs import UNICODE, Glyphs
from d0ctl.show.drawing.spans import (
    EMPTY,
    Line,
    Span,
    cut,
    fit,
    folded,
    foreign,
    text,
    width,
    wrap,
)

Cell = str | tuple[str | None, str] | list[Span] | None
"""A text with or without a role, or several spans; None is empty."""

ENDLESS = 1 << 20
"""More columns than any line takes."""

_FRAME, _MARKS = re.compile(r' +File ".*", line \d+'), re.compile(r" +[~^]+ *")
"""A step of a Python traceback, and the marks below its code."""

LONG, ROOM = 16, 44
"""Beyond this many columns, the last cell of a table gets lines of its own, with less room."""

BELOW = " " * 6
"""The indent of what follows below its row."""

PROMPT, BROKEN = "  $ ", " \\"
"""The start of a command, and the end of a line of it that continues on the next."""

QUOTED, UNBROKEN = re.compile(r"'[^']*'|\"[^\"]*\""), "\ue000"
"""Quoted words of a command, in which no line may end, and a blank in them meanwhile."""

PATH = re.compile(r"(?<![\w/.-])[A-Za-z_][\w.+-]*(?:/\d+){1,3}(?![\w/])")


class Sheet(Struct):
    """Lines that grow downwards; all its texts are made harmless.

    A `whole` sheet cuts nothing: what is too long for its line continues on the next.
    Commands in it read the `archive`, if the page is about jobs of one, and are `completed` with
    the options of the command that prints the page. That command, as it was `typed`, is left out.
    """

    columns: int = ENDLESS
    glyphs: Glyphs = UNICODE
    lines: list[Line] = field(default_factory=list)
    archive: str = ""
    completed: Callable[[str], str] = str
    whole: bool = False
    typed: str = ""

    @property
    def text(self) -> str:
        """Its lines without roles."""
        return "\n".join(text(line).rstrip() for line in self.lines)

    def head(self, title: str, about: str = "") -> None:
        """Add a heading, after a blank line unless it comes first."""
        if self.lines:
            self.lines.append(EMPTY)
        self.add((title, "title"), (f"  {about}" if about else "", "faint"))

    def add(self, *cells: Cell) -> None:
        """Add a line; if it is too long, cut it, or continue it on a whole sheet."""
        line = [span for cell in cells for span in self._spans(cell)]
        if self.whole:
            self.lines += folded(line, self.columns)
        else:
            self.lines.append(fit(line, self.columns, ellipsis=self.glyphs.ellipsis))

    def flow(self, first: Sequence[Span], facts: Iterable[str]) -> None:
        """Add a state and facts about it, with dots between, in as many lines as they need."""
        line = list(first)
        for fact in facts:
            if width(line) + 3 + width([(foreign(fact), "")]) > self.columns:
                self.add(line)
                line = [(f"  {foreign(fact)}", "plain")]
            else:
                line.append((f" · {foreign(fact)}", "plain"))
        self.add(line)

    def say(self, sentence: str, role: str = "plain", *, indent: str = "") -> None:
        """Add a text, wrapped."""
        room = max(8, self.columns - len(indent))
        for index, line in enumerate(wrap(self._typed(foreign(sentence)), room, whole=self.whole)):
            self.lines.append(((indent if not index else " " * len(indent), "faint"), (line, role)))

    def table(
        self,
        cells: Sequence[Sequence[Cell]],
        *,
        give: int = -1,
        right: Collection[int] = (),
        indent: int = 2,
    ) -> None:
        """Add rows in columns; the column numbered `give` shrinks on a narrow screen.

        If it is the last and too little room is left, it is wrapped below its row.
        Columns in `right` are flush right; those without any text are left out.
        """
        if self.whole and give == -1:
            self.rows(cells, right=right, indent=indent)
            return
        rows = [[self._spans(cell) for cell in row] for row in cells]
        if not rows:
            return
        widths = [max(width(row[i]) for row in rows) for i in range(len(rows[0]))]
        shown = [i for i, columns in enumerate(widths) if columns]
        if not shown:
            return
        last = shown[-1]
        spare = self.columns - indent - 2 * (len(shown) - 1) - sum(widths)
        below = spare < 0 and give == -1 and widths[last] > LONG and widths[last] + spare < ROOM
        if spare < 0 and not below:
            give = last if give == -1 else give
            widths[give] = max(6, widths[give] + spare)
        for row in rows:
            line: list[Span] = []
            for i in shown[:-1] if below else shown:
                cell = fit(row[i], widths[i], ellipsis=self.glyphs.ellipsis)
                blank = (" " * (widths[i] - width(cell)), "")
                line.append((" " * (2 if line else indent), ""))
                line += [blank, *cell] if i in right else [*cell, blank]
            self.lines.append(fit(line, self.columns, ellipsis=self.glyphs.ellipsis))
            if below and row[last]:
                self.say(text(row[last]), row[last][0][1], indent=" " * 6)

    def rows(
        self, cells: Sequence[Sequence[Cell]], *, right: Collection[int] = (), indent: int = 0
    ) -> None:
        """Add rows in columns and cut nothing.

        The last column breaks between words if it has room; cells without room follow below.
        """
        rows = [[self._spans(cell) for cell in row] for row in cells]
        widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
        shown = [i for i, columns in enumerate(widths) if columns]
        fitting = 0
        while fitting < len(shown) and _taken(widths, shown[: fitting + 1], indent) <= self.columns:
            fitting += 1
        for row in rows:
            rest = [row[i] for i in shown[fitting:]]
            line: list[Span] = []
            for i in shown[:fitting]:
                blank = (" " * (widths[i] - width(row[i])), "")
                line.append((" " * (2 if line else indent), ""))
                line += [blank, *row[i]] if i in right else [*row[i], blank]
            if line and len(rest) == 1 and (parts := self._beside(line, rest[0])):
                self.lines += parts
                continue
            if line:
                self.lines.append(tuple(line))
            self._below(rest, BELOW if line else "")

    def _beside(self, line: list[Span], cell: list[Span]) -> list[Line]:
        """Return a line with a last cell, which may take several; empty if there is no room."""
        begin = width(line) + 2
        room = self.columns - begin
        parts = folded(cell, room, hanging=0)
        if max(map(width, parts)) > room or (room < ROOM and len(parts) > 1):
            return []
        front, *more = parts
        return [(*line, ("  ", ""), *front), *(((" " * begin, ""), *part) for part in more)]

    def _below(self, cells: Iterable[list[Span]], indent: str) -> None:
        """Add cells side by side, in as many lines as they need; wrap one that is too long."""
        line: list[Span] = []
        for cell in filter(None, cells):
            if line and width(line) + 2 + width(cell) > self.columns:
                self.lines.append(tuple(line))
                line, indent = [], BELOW
            if len(indent) + width(cell) > self.columns:
                self.say(text(cell), cell[0][1], indent=indent)
                indent = BELOW
            else:
                line += [("  " if line else indent, ""), *cell]
        if line:
            self.lines.append(tuple(line))

    def quote(self, output: str, most: int) -> None:
        """Add the last lines of an output, without half a step of a Python traceback."""
        bar = f"  {self.glyphs.upright} "
        room = self.columns - len(bar)
        for line in _last_lines(output, most):
            printed = foreign(line.expandtabs())
            begins = printed.lstrip(" ")
            indent = " " * min(len(printed) - len(begins), room // 2)
            left = room - len(indent)
            parts = (wrap(begins, left) if self.whole
                     else [cut(begins, left, ellipsis=self.glyphs.ellipsis)])  # fmt: skip
            for part in parts:
                self.add((bar, "faint"), (indent + part, "plain"))

    def commands(self, commands: Iterable[str]) -> None:
        """Add commands to type, each once; a long one is continued as a shell accepts it."""
        for command in dict.fromkeys(commands):
            if command == self.typed or not is_possible(command, self.archive):
                continue
            typed = self._typed(foreign(command))
            unbroken = QUOTED.sub(lambda match: match[0].replace(" ", UNBROKEN), typed)
            front, *rest = wrap(unbroken, max(8, self.columns - 6), whole=self.whole)
            for index, line in enumerate([front, *rest]):
                line = line.replace(UNBROKEN, " ")
                mark = (PROMPT if not index else " " * 6, "faint")
                self.lines.append((mark, (line + BROKEN * (index < len(rest)), "command")))

    def _typed(self, text: str) -> str:
        return self.completed(in_archive(text, self.archive))

    def _spans(self, cell: Cell) -> list[Span]:
        return [(self._typed(text), role) for text, role in _spans(cell)]


def cell_width(cell: Cell) -> int:
    """Return how many columns a cell takes."""
    return width(_spans(cell))


def _taken(widths: Sequence[int], shown: Sequence[int], indent: int) -> int:
    """Return how many columns of the screen some columns of a table take."""
    return indent + sum(widths[i] for i in shown) + 2 * (len(shown) - 1)


def _spans(cell: Cell) -> list[Span]:
    if isinstance(cell, list):
        return [(foreign(text), role) for text, role in cell]
    text, role = cell if isinstance(cell, tuple) else (cell, "plain")
    return [(foreign(text), role)] if text else []


def command_at(lines: Sequence[Line], number: int) -> str | None:
    """Return the command on a line, with the lines on which it continues."""
    if not any(role == "command" for _, role in lines[number]):
        return None
    first = last = number
    while first and lines[first][0][0] != PROMPT:
        first -= 1
    while text(lines[last]).endswith(BROKEN) and last + 1 < len(lines):
        last += 1
    parts = [text(line[1:]).removesuffix(BROKEN) for line in lines[first : last + 1]]
    return " ".join(parts)


def commands_on(lines: Sequence[Line]) -> list[str]:
    """Return the commands of all lines, each once."""
    commands = (command_at(lines, number) for number in range(len(lines)))
    return list(dict.fromkeys(command for command in commands if command))


def path_at(line: Line, column: int | None) -> str | None:
    """Return the path of a line or package at a column; the first on the line without one."""
    for match in PATH.finditer(text(line)):
        if column is None or match.start() <= column < match.end():
            return match[0]
    return None


def _last_lines(output: str, most: int) -> list[str]:
    """Return the last lines; they begin with no line that only belongs to one left out.

    These are the code and the carets below the `File` line of a Python traceback.
    """
    lines = output.rstrip().splitlines()
    last, before = lines[-most:], lines[:-most][-1:]
    is_code = bool(before) and _FRAME.match(before[0]) is not None
    marks = next((at for at in (0, 1) if last[at : at + 1] and _MARKS.fullmatch(last[at])), -1)
    begin = marks + 1 or int(is_code and last[0].startswith("    "))
    return last[begin:] or last
