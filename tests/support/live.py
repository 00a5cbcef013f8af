"""A terminal with a program that redraws its page in place: what comes, and what it shows."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.waiting import wait_until

PROGRAM = Path(sys.executable).with_name("d0ctl")
_TITLE = r"\x1b\][^\a\x1b]*\a"
_PIECE = re.compile(rf"\x1b\[(\d+);1H|(\x1b\[K)|\x1b\[[?\d;]*[a-zA-Z]|{_TITLE}|([^\x1b]+)")


def without_size() -> dict[str, str]:
    """The environment, for a terminal with a size of its own: not that of where the tests run."""
    return {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}


class LiveTerminal:
    """A pseudo-terminal of a size, and the program on it."""

    def __init__(self, *words: str, columns: int = 80, rows: int = 24) -> None:
        self.descriptor, theirs = pty.openpty()
        self.resize(columns, rows)
        self.process = subprocess.Popen(
            [PROGRAM, *words], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
            env=without_size() | {"TERM": "xterm", "NO_COLOR": "1"},
        )  # fmt: skip
        os.close(theirs)
        self._seen = b""

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size."""
        termios.tcsetwinsize(self.descriptor, (rows, columns))

    @property
    def raw(self) -> str:
        """All that has come."""
        while select.select([self.descriptor], [], [], 0)[0]:
            try:
                data = os.read(self.descriptor, 65536)
            except OSError:  # the program has gone
                break
            if not data:
                break
            self._seen += data
        return self._seen.decode()

    @property
    def rows(self) -> list[str]:
        """The rows that the terminal shows, without blank ones at the end."""
        rows: dict[int, str] = {}
        row, column = 1, 0
        for piece in _PIECE.finditer(self.raw):
            if piece[1]:
                row, column = int(piece[1]), 0
            elif piece[2]:
                rows[row] = rows.get(row, "")[:column]
            elif piece[3]:
                rows[row] = rows.get(row, "")[:column] + piece[3]
                column += len(piece[3])
        return [rows.get(number, "") for number in range(1, max(rows, default=0) + 1)]

    def expect(self, text: str) -> None:
        """Return once the terminal shows this."""
        try:
            wait_until(lambda: any(text in row for row in self.rows))
        except TimeoutError:
            shown = "\n".join(self.rows)
            raise TimeoutError(f"`{text}` did not come, but:\n{shown}") from None

    def press(self, keys: str) -> None:
        """Press keys."""
        os.write(self.descriptor, keys.encode())

    def end(self) -> int:
        """Wait for the end of the program; its exit code."""
        wait_until(lambda: self.raw is not None and self.process.poll() is not None)
        return self.process.wait()


@contextmanager
def live(*words: str, columns: int = 80, rows: int = 24) -> Iterator[LiveTerminal]:
    """Type a command on a terminal of a size."""
    one = LiveTerminal(*words, columns=columns, rows=rows)
    try:
        yield one
    finally:
        if one.process.poll() is None:
            one.process.send_signal(signal.SIGKILL)
            one.process.wait()
        os.close(one.descriptor)
