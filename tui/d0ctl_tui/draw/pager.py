"""A file of any size seen through a window: only nearby bytes are read, no line is counted."""

from collections.abc import Callable

from msgspec import Struct, field

from d0ctl_tui.draw import log_search
from d0ctl_tui.draw.log_search import Wanted

Read = Callable[[int, int], bytes]
"""Reads a number of bytes from an offset."""

Rows = Callable[[str], int]
"""How many rows of the screen a line takes."""

LONGEST = 4096
"""A longer line is shown as several."""

PIECE = 1 << 16
"""How many bytes are read at a time."""

SEARCHED = 1 << 20
"""How many bytes are searched at a time."""


class Pager(Struct):
    """The byte at which the window begins, always the first of a line, and the row of that line.

    `rows` says how many rows of the screen a line takes.
    """

    read: Read
    size: int = 0
    top: int = 0
    row: int = 0
    rows: Rows = lambda text: 1
    _piece: tuple[int, bytes] = field(default=(0, b""))

    def window(self, height: int) -> list[tuple[int, str]]:
        """Return the lines in the window, each with the offset of its first byte."""
        lines: list[tuple[int, str]] = []
        at, left = self.top, height + self.row
        while left > 0 and at < self.size:
            text = self._text(at)
            lines.append((at, text))
            at, left = self._end(at), left - self.rows(text)
        return lines

    def forward(self, rows: int, height: int) -> None:
        """Move down, not beyond the last page."""
        last = self._back(self.size, 0, height)
        position = self.top, self.row
        for _ in range(rows):
            if position >= last:
                break
            top, row = position
            more = row + 1 < self.rows(self._text(top))
            position = (top, row + 1) if more else (self._end(top), 0)
        self.top, self.row = min(position, last)

    def backward(self, rows: int) -> None:
        """Move up."""
        self.top, self.row = self._back(self.top, self.row, rows)

    def to_end(self, height: int) -> None:
        """Move to the last page."""
        self.top, self.row = self._back(self.size, 0, height)

    def to_start(self) -> None:
        """Move to the first page."""
        self.top, self.row = 0, 0

    def find(
        self, text: str, *, forward: bool, cancelled: Callable[[], bool], here: bool = False
    ) -> bool:
        """Move to the next line that has it, ignoring case; return False if there is none.

        After `~` it is a regular expression. With `here`, the first line of the window counts,
        too. Raises BadUsage.
        """
        at = self._end(self.top) if self.size and forward and not here else self.top
        return self._find(text, at, forward, cancelled)

    def find_around(self, text: str, *, forward: bool, cancelled: Callable[[], bool]) -> bool:
        """Move to the first line that has it, or going back to the last one. Raises BadUsage."""
        return self._find(text, 0 if forward else self.size, forward, cancelled)

    def _find(self, text: str, at: int, forward: bool, cancelled: Callable[[], bool]) -> bool:
        wanted = log_search.parse(text)
        found = (self._after if forward else self._before)(wanted, at, cancelled)
        if found is None:
            return False
        self.top, self.row = self._begin(found), 0
        return True

    def _after(self, wanted: Wanted, at: int, cancelled: Callable[[], bool]) -> int | None:
        while at < self.size and not cancelled():
            position = self._match(wanted, at, at + SEARCHED, last=False)
            if position is not None:
                return position
            at += SEARCHED
        return None

    def _before(self, wanted: Wanted, end: int, cancelled: Callable[[], bool]) -> int | None:
        while end > 0 and not cancelled():
            begin = max(0, end - SEARCHED)
            position = self._match(wanted, begin, end, last=True)
            if position is not None:
                return position
            end = begin
        return None

    def _match(self, wanted: Wanted, begin: int, end: int, *, last: bool) -> int | None:
        """Return where a match begins; the byte before tells whether a line begins there."""
        origin = max(0, begin - 1)
        piece = self.read(origin, end - origin + wanted.reach)
        position = wanted.start(piece, begin - origin, end - origin, last=last)
        return None if position is None else origin + position

    def _bytes(self, at: int, length: int) -> bytes:
        begin, piece = self._piece
        if not begin <= at or at + length > begin + len(piece):
            begin = max(0, at - PIECE // 2)
            piece = self.read(begin, max(PIECE, at + length - begin))
            self._piece = begin, piece
        return piece[at - begin : at - begin + length]

    def forget(self) -> None:
        """Read again: the file has grown."""
        self._piece = (0, b"")

    def _end(self, at: int) -> int:
        """Return the offset after the line that begins at `at`."""
        room = min(LONGEST, self.size - at)
        position = self._bytes(at, room).find(b"\n")
        return at + (position + 1 if position >= 0 else max(1, room))

    def _begin(self, at: int) -> int:
        """Return the first byte of the line that contains the byte at `at`."""
        begin = max(0, at - LONGEST)
        before = self._bytes(begin, at - begin)
        position = before.rfind(b"\n")
        return begin + position + 1 if position >= 0 else begin

    def rows_at_top(self) -> int:
        """Return how many rows the first line of the window takes."""
        return self.rows(self._text(self.top)) if self.top < self.size else 1

    def _text(self, at: int) -> str:
        return self._bytes(at, self._end(at) - at).decode(errors="replace").rstrip("\r\n")

    def _back(self, at: int, row: int, rows: int) -> tuple[int, int]:
        """Go back a number of rows from a row of a line, at most to the first of all."""
        for _ in range(rows):
            if row > 0:
                row -= 1
            elif at > 0:
                at = self._begin(at - 1)
                row = self.rows(self._text(at)) - 1
            else:
                break
        return at, row
