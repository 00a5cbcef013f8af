"""The only place where a wrapper waits for the processes of its attempt, and ends them."""

import os
import resource  # noqa: F401  (os.wait4 imports it, and had better not in each wrapper)
import signal
import time
from typing import Callable

from d0ctl_wrapper import process
from d0ctl_wrapper.attempt.spawn import SIGNALS
from d0ctl_wrapper.paths import Places


class Told(Exception):
    """Somebody asked this wrapper by SIGTERM to end."""


class Tree:
    """All processes that descend from this wrapper, which reaps those that left their parents."""

    def __init__(self, places: Places, attempt: int) -> None:
        self.mark = (places.base, b"%d" % attempt)
        self.is_reaper = process.become_reaper()
        self.awaited = 0
        self.status: "int | None" = None
        self.cpu = 0.0
        self.rss = 0

    def wait(self, pid: int) -> int:
        """Wait until child `pid` has ended and give its status; raise Told on SIGTERM.

        `cpu` and `rss` are then what was used by all that ended meanwhile.
        """
        self.awaited, self.status, self.cpu, self.rss = pid, None, 0.0, 0
        while self.status is None:
            if signal.sigwaitinfo(SIGNALS).si_signo == signal.SIGTERM:
                raise Told
            self._reap()
        return self.status

    def check(self) -> None:
        """Raise Told when SIGTERM came."""
        if signal.sigtimedwait((signal.SIGTERM,), 0) is not None:
            raise Told

    def end(self, grace: "Callable[[], float]") -> None:
        """End every process: TERM, then KILL after `grace()` seconds, until none is left.

        Whoever sends SIGTERM meanwhile may have shortened the grace.
        """
        deadline = time.monotonic() + grace()
        told: "set[int]" = set()
        while self._reap() or not self.is_reaper:
            members = self._members()
            if not members and not self.is_reaper:
                return
            remaining = deadline - time.monotonic()
            self._tell(members, told, remaining <= 0)
            pause = min(remaining, 0.5) if remaining > 0 else 0.05
            caught = signal.sigtimedwait(SIGNALS, pause)
            if caught is not None and caught.si_signo == signal.SIGTERM:
                deadline = min(deadline, time.monotonic() + grace())

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

    def _reap(self) -> bool:
        """Collect the children that have ended; tell whether there are others."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            self.cpu += usage.ru_utime + usage.ru_stime
            self.rss = max(self.rss, usage.ru_maxrss * 1024)
            if pid == self.awaited:
                self.status = status
