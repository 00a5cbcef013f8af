"""The only place where a wrapper waits for the processes of its attempt, and ends them."""

import os
import resource  # noqa: F401  (os.wait4 imports it, and had better not in each wrapper)
import signal
import time
from typing import Callable, Dict

from d0ctl_wrapper.attempt.intervals import Watch
from d0ctl_wrapper.attempt.run.spawn import SIGNALS
from d0ctl_wrapper.host import process
from d0ctl_wrapper.protocol.paths import AttemptFolder

_ORDERS = (signal.SIGTERM, signal.SIGUSR1)


class Told(Exception):
    """Somebody asked this wrapper by SIGTERM to end."""


class Tree:
    """All processes that descend from this wrapper, which reaps those that left their parents."""

    def __init__(self, folder: AttemptFolder) -> None:
        self.mark = (folder.node.base, b"%d" % folder.attempt)
        self.is_reaper = process.become_reaper()
        self.awaited = 0
        self.status: "int | None" = None
        self.cpu = 0.0
        self.rss = 0
        self.ended: "Dict[int, int | None]" = {}
        """Children that may end while another is awaited, and how they ended."""
        self._outcome: "Callable[[], int | None]" = lambda: None
        self._before = 0.0
        self._highest = 0
        self.answer: "Callable[[], None]" = lambda: None
        """Called when somebody asks how the attempt stands."""

    def wait(
        self,
        pid: int,
        watch: "Callable[[], Watch]",
        outcome: "Callable[[], int | None]" = lambda: None,
    ) -> int:
        """Wait until child `pid` has ended and give its status; raise Told on SIGTERM.

        `watch` makes what looks at it meanwhile. `cpu` and `rss` are then what was used by all
        that ended meanwhile. `outcome` may give the status of a process below the child.
        """
        self.awaited, self.status, self.cpu, self.rss = pid, self.ended.get(pid), 0.0, 0
        self._outcome, self._highest = outcome, 0
        self._before = self.usage().cpu if pid in self.ended else 0.0
        watching = watch()
        while self.status is None:
            caught = self._sleep(watching.delay())
            if caught == signal.SIGTERM:
                raise Told
            self._reap()
            if self.status is None:
                watching.look(caught == signal.SIGUSR1)
        return self.status

    def usage(self) -> "process.Usage":
        """Measure what the binary under way has used so far, and what it takes of memory now."""
        found = [process.usage(pid) for pid in process.below(os.getpid())]
        living = [one for one in found if one is not None]
        rss = sum(one.rss for one in living)
        self._highest = max(self._highest, rss)
        return process.Usage(self.cpu + sum(one.cpu for one in living), rss)

    def memory(self) -> int:
        """Measure what all processes of the binary take of memory together, shared pages once."""
        return sum(process.memory(pid) for pid in process.below(os.getpid()))

    def signal(self, number: int) -> None:
        """Signal every process, those too that come to be meanwhile."""
        done: "set[int]" = set()
        while True:
            new = self._members() - done
            if not new:
                return
            for pid in new:
                process.send(pid, number)
            done |= new

    def check(self) -> None:
        """Answer whoever asks how the attempt stands; raise Told when SIGTERM came."""
        caught = signal.sigtimedwait(_ORDERS, 0)
        while caught is not None:
            if caught.si_signo == signal.SIGTERM:
                raise Told
            self.answer()
            caught = signal.sigtimedwait(_ORDERS, 0)

    def rest(self, seconds: float) -> None:
        """Sleep; raise Told when SIGTERM comes, or came."""
        until = time.monotonic() + seconds
        self.check()
        while time.monotonic() < until:
            if self._sleep(until - time.monotonic()) == signal.SIGTERM:
                raise Told

    def let_go(self) -> None:
        """Take note that what was waited for was no binary, or is none any more."""
        self.awaited = 0

    @property
    def is_running(self) -> bool:
        """Tell whether there is a binary that has not ended."""
        return self.awaited > 0 and self.status is None

    def has_ended_within(self, seconds: float) -> bool:
        """Wait so long for the end of the binary, and tell whether it came."""
        self._sleep(seconds)
        self._reap()
        return self.status is not None

    def end(self, grace: "Callable[[], float]") -> str:
        """End every process: TERM, then KILL after `grace()` seconds, until none is left.

        Gives which of them did it. Whoever sends SIGTERM meanwhile may have shortened the grace.
        """
        deadline = time.monotonic() + grace()
        told: "set[int]" = set()
        is_late = False
        while self._reap() or not self.is_reaper:
            members = self._members()
            if not members and not self.is_reaper:
                break
            is_late = is_late or bool(members and time.monotonic() >= deadline)
            remaining = deadline - time.monotonic()
            self._tell(members, told, remaining <= 0)
            pause = min(remaining, 0.5) if remaining > 0 else 0.05
            if self._sleep(pause) == signal.SIGTERM:
                deadline = min(deadline, time.monotonic() + grace())
        return "by SIGKILL" if is_late else "by SIGTERM"

    def _sleep(self, seconds: float) -> "int | None":
        """Sleep until a signal comes, and give it; SIGUSR1 is answered at once."""
        caught = signal.sigtimedwait(SIGNALS, seconds)
        if caught is not None and caught.si_signo == signal.SIGUSR1:
            self.answer()
        return None if caught is None else caught.si_signo

    def _tell(self, members: "set[int]", told: "set[int]", is_late: bool) -> None:
        for pid in members:
            if is_late:
                process.send(pid, signal.SIGKILL)
            elif pid not in told:
                process.send(pid, signal.SIGTERM)
                process.send(pid, signal.SIGCONT)
                told.add(pid)

    def _members(self) -> "set[int]":
        processes = process.table()
        members = process.descendants(processes, os.getpid())
        if not self.is_reaper:
            members.update(pid for pid in processes if process.marks(pid) == self.mark)
        return members

    def await_end(self, pid: int, seconds: float) -> None:
        """Wait so long for the end of a child of `ended`."""
        until = time.monotonic() + seconds
        self._reap()
        while self.ended.get(pid) is None and time.monotonic() < until:
            if self._sleep(until - time.monotonic()) == signal.SIGTERM:
                raise Told
            self._reap()

    def _reap(self) -> bool:
        """Collect the children that have ended; tell whether there are others."""
        has_others = self._collect()
        if self.status is None:
            self.status = self._outcome()
            if self.status is not None:
                self.cpu = max(0.0, self.usage().cpu - self._before)
                self.rss = max(self.rss, self._highest)
        return has_others

    def _collect(self) -> bool:
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            self.cpu += usage.ru_utime + usage.ru_stime
            self.rss = max(self.rss, usage.ru_maxrss * 1024)
            if pid in self.ended:
                self.ended[pid] = status
            if pid == self.awaited:
                self.status = status
