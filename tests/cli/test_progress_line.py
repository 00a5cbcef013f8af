"""The line of progress that `run` draws on a terminal."""

import fcntl
import os
import pty
import struct
import termios

import pytest

from d0ctl.cli.terminal.progress_bar import Progress
from d0ctl.model import Counts
from d0ctl.show.drawing.spans import cell_len

COUNTS = {"done": 1_234, "running": 11, "starting": 169, "failed": 3, "waiting": 20_000}


@pytest.fixture(autouse=True)
def capable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The terminal can move its cursor."""
    monkeypatch.setenv("TERM", "xterm")


def drawn(columns: int, counts: Counts) -> str:
    """The line on a terminal of so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with os.fdopen(theirs, "w", encoding="utf-8") as stream:
        Progress(stream, "prod").show(counts)
        seen = os.read(ours, 4096).decode()
    os.close(ours)
    return seen.removeprefix("\r").removesuffix("\x1b[K")


def test_packages_that_are_queued_on_nodes_are_not_counted_as_running() -> None:
    line = drawn(120, COUNTS)

    assert "1,234/21,417 done, 11 running, 169 queued on nodes, 3 failed" in line
    assert line.startswith("█░░")


@pytest.mark.parametrize("columns", [20, 40, 78, 80, 100, 200])
def test_the_line_of_progress_fits_its_terminal(columns: int) -> None:
    line = drawn(columns, COUNTS)

    assert cell_len(line) < columns
    assert "1,234/21,417 done"[: columns - 3] in line
