"""Detection of looping binaries: those without any sign of life.

Signs of life are progress and changes of a log or an output; before the verdict, of any file in
the working directory. Suspended time does not count. The longest silence is reported, for the run
time history of the program (D0 Job Definition, section 5, case 2).
"""

import os
from typing import Any, Callable, Dict, List, Tuple

from d0ctl_wrapper.attempt.intervals import SOONEST_S
from d0ctl_wrapper.attempt.run.clock import Clock
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.disk import walk_files
from d0ctl_wrapper.host.process import Usage
from d0ctl_wrapper.protocol.text import share, span

IDLE = 0.05
"""The share of a CPU below which a binary is idle rather than looping."""

POLL_S = 30.0
"""The most seconds between two checks for signs."""

SHOWN = 32
"""The most outputs that each check examines; before the verdict all files are checked."""

Marks = Tuple[Any, ...]


class LifeSigns:
    """The signs of life of a binary."""

    def __init__(self, changes: "Callable[[], int]", paths: "List[bytes]", work: bytes) -> None:
        self._changes = changes
        self._paths = paths[: SHOWN + 2]
        self._work = work

    def first(self) -> Marks:
        """Return the state of logs and outputs before any progress is read.

        Progress that is read so early would spoil the estimate of the time left.
        """
        return (0, *(_mark(path) for path in self._paths))

    def quick_state(self) -> Marks:
        """Return the state of progress, logs and outputs."""
        return (self._changes(), *self.first()[1:])

    def full_state(self) -> Marks:
        """Return the state of all files in the working directory."""
        count, size, latest = 0, 0, 0
        for status in walk_files(self._work):
            count, size = count + 1, size + status.st_size
            latest = max(latest, status.st_mtime_ns)
        return count, size, latest


def _mark(path: bytes) -> "Tuple[int, int]":
    try:
        status = os.stat(path)
    except OSError:
        return 0, 0
    return status.st_size, status.st_mtime_ns


class Looping:
    """The silence of one binary: its present, longest and allowed duration."""

    def __init__(
        self, who: str, binary: "Dict[str, Any]", clock: Clock, signs: LifeSigns,
        usage: "Callable[[], Usage]",
    ) -> None:  # fmt: skip
        self._who = who
        self._limit: "float | None" = binary["looping"]
        self._history: "Dict[str, Any] | None" = binary["run_time_history"]
        self._clock = clock
        self._signs = signs
        self._usage = usage
        self._seen = signs.first()
        self._since = 0.0
        self._longest = 0.0
        self._halfway: "Tuple[float, float, Marks] | None" = None

    def poll(self) -> float:
        """Raise Failed if the silence is too long; return the seconds until the next check."""
        seen = self._signs.quick_state()
        has_changed, self._seen = seen != self._seen, seen
        if has_changed:
            self._end_silence()
        elif self._limit is not None:
            self._judge(self._limit)
        return POLL_S if self._limit is None else min(POLL_S, self._due(self._limit))

    def gap(self) -> float:
        """Return the longest silence so far, in seconds of running time."""
        return max(self._longest, self._silence())

    def _silence(self) -> float:
        return self._clock.now() - self._since

    def _end_silence(self) -> None:
        self._longest = self.gap()
        self._since = self._clock.now()
        self._halfway = None

    def _due(self, limit: float) -> float:
        """Return the seconds until half of the allowed silence, or all of it."""
        until = limit / 2 if self._halfway is None else limit
        return max(SOONEST_S / 10, until - self._silence())

    def _judge(self, limit: float) -> None:
        if self._silence() < limit / 2:
            return
        now, cpu, marks = self._clock.now(), self._usage().cpu, self._signs.full_state()
        if self._halfway is None:
            self._halfway = (now, cpu, marks)
        elif self._silence() >= limit:
            before, cpu_before, marks_before = self._halfway
            if marks != marks_before:
                self._end_silence()
            elif now > before:
                raise Failed("looping", self._sentence((cpu - cpu_before) / (now - before)))

    def _sentence(self, busy: float) -> str:
        history = ""
        if self._history is not None:
            numbers = (self._history["runs"], span(self._history["gap"]))
            history = "; its longest silence in %d runs is %s" % numbers
        verdict = "it is idle, perhaps waiting for input or a lock" if busy < IDLE else "looping"
        values = (self._who, span(self._silence()), history, share(max(0.0, busy)), verdict)
        return "%s made no progress for %s%s; CPU %s: %s" % values
