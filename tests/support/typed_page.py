"""What a command prints on a terminal of a size, run in this process."""

import io
import os
import pty
import sys
import termios
import threading
from collections.abc import Sequence
from contextlib import suppress

from d0ctl.cli.app import app

ROWS = 40


def typed(words: Sequence[str], columns: int) -> str:
    """Type a command on a terminal of so many columns, where nobody answers questions."""
    here, there = pty.openpty()
    termios.tcsetwinsize(there, (ROWS, columns))
    pieces: list[bytes] = []
    reader = threading.Thread(target=_read, args=(here, pieces))
    reader.start()
    usual = sys.stdin, sys.stdout, sys.stderr
    try:
        with (
            os.fdopen(os.open(os.devnull, os.O_RDONLY)) as nobody,
            io.TextIOWrapper(
                os.fdopen(there, "wb", buffering=0), "utf-8", write_through=True
            ) as out,
        ):
            sys.stdin, sys.stdout, sys.stderr = nobody, out, out
            with suppress(SystemExit):
                app(list(words), prog_name="d0ctl")
    finally:
        sys.stdin, sys.stdout, sys.stderr = usual
        reader.join()
        os.close(here)
    return b"".join(pieces).decode()


def _read(descriptor: int, pieces: list[bytes]) -> None:
    """Read until the terminal is closed, so that no command waits for its reader."""
    with suppress(OSError):
        while piece := os.read(descriptor, 65536):
            pieces.append(piece)
