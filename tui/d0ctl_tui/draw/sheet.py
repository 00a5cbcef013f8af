"""The only place that lays out what is told about one thing: headed blocks, wrapped to a width."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from d0ctl_tui.draw.looks import Glyphs
from d0ctl_tui.draw.spans import EMPTY, Line, Span, cut, fit, foreign, pad, width, wrap


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
        """Rows in columns, of which the one numbered `give` gives way to a narrow screen."""
        if not rows:
            return
        count = len(rows[0])
        widths = [max(width([row[i]]) for row in rows) for i in range(count)]
        spare = self.columns - 2 * count - sum(widths)
        if spare < 0:
            widths[give] = max(6, widths[give] + spare)
        for row in rows:
            cells: list[Span] = []
            for (text, look), columns in zip(row, widths, strict=True):
                cells += [("  ", ""), (pad(text, columns, ellipsis=self.glyphs.ellipsis), look)]
            self.add(*cells)

    def quote(self, words: str, most: int) -> None:
        """The last lines of an output, as they are."""
        for line in words.rstrip().splitlines()[-most:]:
            bar = f"  {self.glyphs.upright} "
            room = self.columns - len(bar)
            shown = cut(foreign(line.expandtabs()), room, ellipsis=self.glyphs.ellipsis)
            self.add((bar, "faint"), (shown, "plain"))

    def commands(self, words: Iterable[str]) -> None:
        """What to type, each once."""
        for command in dict.fromkeys(words):
            self.add(("  $ ", "faint"), (foreign(command), "command"))
