"""The progress of a job on stderr: a bar on a terminal, a line now and then elsewhere."""

import os
import threading
import time
from typing import TextIO

from d0ctl.cli.terminal.output import is_terminal, speaks_unicode, terminal_columns
from d0ctl.model import Counts, by_status
from d0ctl.show.drawing.signs import launched
from d0ctl.show.drawing.spans import cut
from d0ctl.units import count, duration

REDRAW_S = 0.1
PLAIN_S = 10.0
WIDTH, SHORTEST = 28, 4
"""How many columns the bar takes, and the fewest."""

OTHERS = (("suspended", "suspended"), ("unreachable", "unreachable"), ("cooloff", "cooling off"),
          ("held", "held"))  # fmt: skip
"""Phases that are counted besides, with their words."""


class Progress:
    """Shows counts as they arrive; it may be called from any thread."""

    def __init__(self, stream: TextIO, name: str) -> None:
        self._stream, self._name = stream, name
        self._live = is_terminal(stream) and os.environ.get("TERM") != "dumb"
        self._began = time.monotonic()
        self._shown_at = float("-inf")
        self._last: Counts = {}
        self._paused = threading.Event()
        self._lock = threading.Lock()

    def show(self, counts: Counts) -> None:
        """Show these counts, if they are new and the last ones are not too recent."""
        with self._lock:
            self._last = counts
            due = time.monotonic() - self._shown_at >= (REDRAW_S if self._live else PLAIN_S)
            if due and not self._paused.is_set():
                self._shown_at = time.monotonic()
                self._draw()

    @property
    def is_waiting(self) -> bool:
        """Whether packages are ready and none is running or about to."""
        counts = self._last
        busy = by_status(counts)["launched"] or counts.get("assigned")
        return bool(counts.get("ready")) and not busy

    def pause(self) -> None:
        """Show nothing until `resume`."""
        with self._lock:
            self._paused.set()
            self._wipe()

    def resume(self) -> None:
        """Go on."""
        self._paused.clear()

    def close(self) -> None:
        """Leave a clean terminal."""
        with self._lock:
            self._paused.set()
            self._wipe()

    def _wipe(self) -> None:
        if self._live:
            print("\r\x1b[K", end="", file=self._stream, flush=True)

    def _draw(self) -> None:
        if self._live:
            print(f"\r{self._line()}\x1b[K", end="", file=self._stream, flush=True)
        else:
            print(f"{self._name}: {self._summary()}", file=self._stream, flush=True)

    def _line(self) -> str:
        """Return one line of the terminal: numbers before all, and a bar if there is room."""
        summary, columns = self._summary(), terminal_columns(self._stream) - 1
        width = min(WIDTH, columns - len(summary) - 1)
        if width >= SHORTEST:
            return f"{self._bar(width)} {summary}"
        return cut(summary, columns, ellipsis="…" if speaks_unicode(self._stream) else "..")

    def _bar(self, width: int) -> str:
        full, empty = ("█", "░") if speaks_unicode(self._stream) else ("#", ".")
        totals = by_status(self._last)
        ended = totals["successful"] + totals["failed"] + totals["canceled"]
        filled = ended * width // (sum(totals.values()) or 1)
        return full * filled + empty * (width - filled)

    def _summary(self) -> str:
        totals = by_status(self._last)
        passed = time.monotonic() - self._began
        parts = [f"{count(totals['successful'])}/{count(sum(totals.values()))} done"]
        numbers = [*launched(self._last), (totals["failed"], "failed")]
        for phase, word in OTHERS:
            numbers.append((self._last.get(phase, 0), word))
        parts += [f"{count(number)} {word}" for number, word in numbers if number]
        parts.append(duration(passed))
        return ", ".join(parts)
