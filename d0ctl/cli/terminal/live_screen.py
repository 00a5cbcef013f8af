"""A page that stays on the terminal and changes in place, on its alternate screen."""

import os
import re
import select
import signal
import sys
import termios
import time
import tty
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Any, Self

from d0ctl.cli.terminal import output
from d0ctl.cli.terminal.output import paint
from d0ctl.errors import ExitCode
from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.drawing.spans import cell_len, text
from d0ctl.units import count, moment

ENTER, LEAVE = "\x1b[?1049h\x1b[?25l\x1b[?7l", "\x1b[?7h\x1b[?25h\x1b[?1049l"
"""To the alternate screen without cursor and line wrap, and back."""

ERASE = "\x1b[K"
"""Erases the rest of a row."""

QUIT = frozenset("qQ\x1b")

KEY = re.compile(r"\x1b(?:\[[0-9;]*[~A-Za-z]|O[A-Za-z])|.", re.DOTALL)
"""One of several keys that arrive together, as from a key that is held down."""

PAGE = 2

SCROLL = {
    "j": 1, "\x1b[B": 1, "\x1bOB": 1, "k": -1, "\x1b[A": -1, "\x1bOA": -1,
    " ": PAGE, "\x1b[6~": PAGE, "b": -PAGE, "\x1b[5~": -PAGE,
}  # fmt: skip
"""The keys that scroll: by a line, or by a page."""


class LiveScreen:
    """The alternate screen of the terminal on stdout; only lines that changed are written.

    It restores the terminal at its end, also by SIGTERM, SIGHUP and while it is stopped by ctrl-Z.
    """

    def __init__(self) -> None:
        self._shown: list[str] = []
        self._size = (0, 0)
        self._top = 0
        self._keys: list[Any] | None = None
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGTERM, signal.SIGHUP):
            self._previous[number] = signal.signal(number, _end)
        self._previous[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._stop)
        self._begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._leave()
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        if kind is KeyboardInterrupt:  # the cursor is at the beginning of a line
            raise SystemExit(ExitCode.INTERRUPTED) from None

    @property
    def size(self) -> tuple[int, int]:
        """The columns and rows of the terminal."""
        columns, rows = os.get_terminal_size(sys.stdout.fileno())
        return columns or 80, rows or 24

    @property
    def is_resized(self) -> bool:
        """Whether the terminal has another size than the page that was drawn last."""
        return self.size != self._size

    def draw(self, page: Sheet, now: float) -> None:
        """Write the lines of a page that differ from those on the screen, and a last line."""
        if self.is_resized:
            self._shown = []
        self._size = self.size
        columns, rows = self._size
        self._top = max(0, min(self._top, len(page.lines) - rows + 1))
        lines = output.lines(page)
        hidden = len(lines) > rows - 1
        # Erasing behind a line that fills the row would take its last sign; blanks at the end of a
        # line are not written.
        ends = ["" if cell_len(text(line).rstrip()) >= columns else ERASE for line in page.lines]
        lines = [line + end for line, end in zip(lines, ends, strict=True)]
        lines = lines[self._top : self._top + rows - 1]
        lines += [ERASE] * (rows - 1 - len(lines))
        last = count(len(page.lines))
        position = (
            f"   lines {self._top + 1} to {self._top + rows - 1} of {last}   j k space: scroll"
        )
        foot = f"{moment(now, now)}   q: quit{position if hidden else ''}"
        lines.append(paint(foot[: columns - 1], "faint") + ERASE)
        pieces = [
            f"\x1b[{row};1H{line}"
            for row, line in enumerate(lines, 1)
            if row > len(self._shown) or self._shown[row - 1] != line
        ]
        self._shown = lines
        sys.stdout.write("".join(pieces))
        sys.stdout.flush()

    def wait(self, seconds: float) -> str:
        """Wait for keys until this time; return `quit`, `scroll`, or empty if none was pressed."""
        if self._keys is None:
            time.sleep(seconds)
            return ""
        if not select.select([sys.stdin], [], [], seconds)[0]:
            return ""
        typed = os.read(sys.stdin.fileno(), 64).decode("ascii", "replace")
        keys = KEY.findall(typed)
        if not typed or not QUIT.isdisjoint(keys):
            return "quit"
        for key in keys:
            step = SCROLL.get(key, 0)
            self._top += step * (self._size[1] - 2) // PAGE if abs(step) == PAGE else step
        return "scroll"

    def _begin(self) -> None:
        with suppress(termios.error, OSError, ValueError):
            number = sys.stdin.fileno()
            self._keys = termios.tcgetattr(number)
            tty.setcbreak(number)
        sys.stdout.write(ENTER)

    def _leave(self) -> None:
        if self._keys is not None:
            termios.tcsetattr(sys.stdin.fileno(), termios.TCSADRAIN, self._keys)
        sys.stdout.write(LEAVE)
        sys.stdout.flush()

    def _stop(self, number: int, frame: FrameType | None) -> None:
        """Give the terminal back to the shell, and draw everything when the program continues."""
        self._leave()
        os.kill(os.getpid(), signal.SIGSTOP)
        self._begin()
        self._shown = []
        self._size = (0, 0)


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
