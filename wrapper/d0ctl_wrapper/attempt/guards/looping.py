"""The only place that finds a binary to be looping: nothing that it does shows any more.

What shows is progress, a log or an output that changes; before the verdict, any file in the
working directory. Time at a standstill does not count. The longest gap is kept, as the habit
of the program (D0 Job Definition, section 5, case 2).
"""

import os
from typing import Any, Callable, Dict, List, Tuple

from d0ctl_wrapper.attempt.intervals import SOONEST
from d0ctl_wrapper.attempt.run.clock import Clock
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.host.process import Usage
from d0ctl_wrapper.host.walk_files import tour
from d0ctl_wrapper.protocol.quantities import share, span

IDLE = 0.05
"""Below this share of a processor a binary stands still rather than loops."""

LOOK = 30.0
"""Every so many seconds is looked for signs, and when half the time or all of it has passed."""

SHOWN = 32
"""So many outputs are looked at each time; the others are seen before a verdict."""

Marks = Tuple[Any, ...]


class Signs:
    """What shows from outside that a binary lives."""

    def __init__(self, news: "Callable[[], int]", paths: "List[bytes]", work: bytes) -> None:
        self._news = news
        self._paths = paths[: SHOWN + 2]
        self._work = work

    def cheap(self) -> Marks:
        """Note how far the progress, the logs and the outputs are."""
        return (self._news(), *(_mark(path) for path in self._paths))

    def thorough(self) -> Marks:
        """Note how all files in the working directory are."""
        count, size, latest = 0, 0, 0
        for status in tour(self._work):
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
    """The silence of one binary: how long it is, how long it ever was, how long it may be."""

    def __init__(
        self, who: str, binary: "Dict[str, Any]", clock: Clock, signs: Signs,
        usage: "Callable[[], Usage]",
    ) -> None:  # fmt: skip
        self._who = who
        self._limit: "float | None" = binary["looping"]
        self._habit: "Dict[str, Any] | None" = binary["run_time_history"]
        self._clock = clock
        self._signs = signs
        self._usage = usage
        self._seen = signs.cheap()
        self._since = 0.0
        self._longest = 0.0
        self._halfway: "Tuple[float, float, Marks] | None" = None

    def look(self) -> float:
        """Raise Failed when the silence is too long; the seconds until the next look."""
        seen = self._signs.cheap()
        has_changed, self._seen = seen != self._seen, seen
        if has_changed:
            self._hear()
        elif self._limit is not None:
            self._judge(self._limit)
        return LOOK if self._limit is None else min(LOOK, self._due(self._limit))

    def gap(self) -> float:
        """Give the longest silence so far, in seconds of running time."""
        return max(self._longest, self._silence())

    def _silence(self) -> float:
        return self._clock.now() - self._since

    def _hear(self) -> None:
        self._longest = self.gap()
        self._since = self._clock.now()
        self._halfway = None

    def _due(self, limit: float) -> float:
        """Give the seconds until the silence is half as long as it may be, or just as long."""
        until = limit / 2 if self._halfway is None else limit
        return max(SOONEST / 10, until - self._silence())

    def _judge(self, limit: float) -> None:
        if self._silence() < limit / 2:
            return
        now, cpu, marks = self._clock.now(), self._usage().cpu, self._signs.thorough()
        if self._halfway is None:
            self._halfway = (now, cpu, marks)
        elif self._silence() >= limit:
            before, cpu_before, marks_before = self._halfway
            if marks != marks_before:
                self._hear()
            elif now > before:
                raise Failed("looping", self._sentence((cpu - cpu_before) / (now - before)))

    def _sentence(self, busy: float) -> str:
        habit = ""
        if self._habit is not None:
            told = (self._habit["runs"], span(self._habit["gap"]))
            habit = "; its longest gap in %d runs is %s" % told
        verdict = "it is idle, perhaps waiting for input or a lock" if busy < IDLE else "looping"
        told_all = (self._who, span(self._silence()), habit, share(max(0.0, busy)), verdict)
        return "%s made no progress for %s%s; CPU %s: %s" % told_all
