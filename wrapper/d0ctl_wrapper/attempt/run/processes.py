"""The processes of an attempt: wait for them, signal them, end them."""

import math
import os
import resource  # noqa: F401  (os.wait4 imports it, and the import is done once, before the fork)
import signal
import time
from typing import Callable, Dict

from d0ctl_wrapper.attempt.intervals import Watch
from d0ctl_wrapper.attempt.run.spawn import SIGNALS
from d0ctl_wrapper.host import process
from d0ctl_wrapper.protocol.paths import AttemptFolder

_ORDERS = (signal.SIGTERM, signal.SIGUSR1)

CLEANUP_S = 1.5
"""How long a process that begins while others are ended may take before its TERM."""


GROWTH = 1 << 20
"""How many bytes a child needs at most between its fork and its exec."""


class Terminated(Exception):
    """The wrapper received SIGTERM."""


class ProcessTree:
    """All descendants of this wrapper, which adopts their orphans."""

    def __init__(
        self,
        folder: AttemptFolder,
        on_status_request: "Callable[[], None]",
        before_sleep: "Callable[[], float]",
    ) -> None:
        """`before_sleep` does due work, and returns the most seconds to sleep."""
        self.mark = (folder.node.base, b"%d" % folder.attempt)
        self.is_reaper = process.become_reaper()
        self.awaited = 0
        self.status: "int | None" = None
        self.cpu = 0.0
        self.rss = 0
        self.ended: "Dict[int, int | None]" = {}
        """Children that may end while another is awaited, and their status."""
        self.was_signaled = False
        """Whether SIGTERM or SIGUSR1 has arrived."""
        self._outcome: "Callable[[], int | None]" = lambda: None
        self._before = 0.0
        self._highest = 0
        self._inherited = 0
        """A peak that a child may have from the wrapper, of which it is a copy until its exec."""
        self._usage: "process.Usage | None" = None
        """The usage of the binary since the wrapper last slept."""
        self.on_status_request = on_status_request
        self._before_sleep = before_sleep
        self._watch: "Callable[[], Watch] | None" = None
        self._watching: "Watch | None" = None

    def wait(
        self,
        pid: int,
        watch: "Callable[[], Watch]",
        outcome: "Callable[[], int | None]" = lambda: None,
        watch_after: float = 0.0,
    ) -> int:
        """Wait until child `pid` has ended and return its status; raise Terminated on SIGTERM.

        `watch` returns the watch over it, which begins after some seconds, or with the first
        signal. Afterwards `cpu` and `rss` have the usage of the processes that ended meanwhile;
        `rss` is 0 if they took less than the wrapper, and no guard has looked at them.
        `outcome` may return the status of a process below the child.
        """
        self.awaited, self.status, self.cpu, self.rss = pid, self.ended.get(pid), 0.0, 0
        self._usage = None
        self._outcome, self._highest = outcome, 0
        own = process.usage(os.getpid())
        self._inherited = own.rss + GROWTH if own is not None else 0
        self._before = self.usage().cpu if pid in self.ended else 0.0
        self._watch, self._watching = watch, None
        begin_at = time.monotonic() + watch_after
        try:
            while self.status is None:
                if self._watching is None and time.monotonic() >= begin_at:
                    self._begin_watch()
                watching = self._watching
                delay = begin_at - time.monotonic() if watching is None else watching.delay()
                caught = self._sleep(delay)
                if caught == signal.SIGTERM:
                    raise Terminated
                self._reap()
                if self.status is None and self._watching is not None:
                    self._watching.poll(caught == signal.SIGUSR1)
        finally:
            self._watch = None
        return self.status

    def _begin_watch(self) -> None:
        """Begin the watch over the awaited child, if it has not begun."""
        if self._watch is not None and self._watching is None:
            self._watching = self._watch()

    def usage(self) -> "process.Usage":
        """Return the CPU time of the running binary so far, and its present memory."""
        if self._usage is None:
            found = [process.usage(pid) for pid in process.below(os.getpid())]
            living = [usage for usage in found if usage is not None]
            rss = sum(usage.rss for usage in living)
            self._highest = max(self._highest, rss)
            self._usage = process.Usage(self.cpu + sum(usage.cpu for usage in living), rss)
        return self._usage

    def memory(self) -> int:
        """Return the memory of all processes of the binary, with shared pages counted once."""
        return sum(process.memory(pid) for pid in process.below(os.getpid()))

    def signal(self, number: int) -> None:
        """Signal every process, including those that are started meanwhile."""
        done: "set[int]" = set()
        while True:
            new = self._members() - done
            if not new:
                return
            for pid in new:
                process.send(pid, number)
            done |= new

    def check(self) -> None:
        """Answer status requests; raise Terminated if SIGTERM has arrived."""
        self._usage = None
        self._before_sleep()
        caught = signal.sigtimedwait(_ORDERS, 0)
        while caught is not None:
            self.was_signaled = True
            if caught.si_signo == signal.SIGTERM:
                raise Terminated
            self.on_status_request()
            caught = signal.sigtimedwait(_ORDERS, 0)

    def rest(self, seconds: float) -> None:
        """Sleep; raise Terminated if SIGTERM arrives or has arrived."""
        until = time.monotonic() + seconds
        self.check()
        while time.monotonic() < until:
            if self._sleep(until - time.monotonic()) == signal.SIGTERM:
                raise Terminated

    def clear(self) -> None:
        """Record that no binary is running."""
        self.awaited = 0

    @property
    def is_running(self) -> bool:
        """Whether a binary is running."""
        return self.awaited > 0 and self.status is None

    def has_ended_within(self, seconds: float) -> bool:
        """Wait at most `seconds` for the end of the binary; return whether it ended."""
        self._sleep(seconds)
        self._reap()
        return self.status is not None

    def end(self, grace: "Callable[[], float]") -> str:
        """End every process: TERM, then KILL after `grace()` seconds, until none is left.

        Processes that begin meanwhile may clean up after a TERM, as for a container:
        they get their TERM a little later.

        Returns which signal was enough. After another SIGTERM meanwhile, `grace` is called again.
        """
        deadline = time.monotonic() + grace()
        due: "dict[int, float]" = {}
        is_late = False
        while self._reap() or not self.is_reaper:
            members = self._members()
            if not members and not self.is_reaper:
                break
            is_late = is_late or bool(members and time.monotonic() >= deadline)
            remaining = deadline - time.monotonic()
            self._send_end(members, due, remaining <= 0)
            pause = min(remaining, 0.5) if remaining > 0 else 0.05
            if self._sleep(pause) == signal.SIGTERM:
                deadline = min(deadline, time.monotonic() + grace())
        return "by SIGKILL" if is_late else "by SIGTERM"

    def _sleep(self, seconds: float) -> "int | None":
        """Sleep until a signal comes, and return it; SIGUSR1 is answered at once."""
        until = time.monotonic() + seconds
        left = min(seconds, self._before_sleep())
        self._usage = None
        caught = signal.sigtimedwait(SIGNALS, max(0.0, left))
        while caught is None and time.monotonic() < until:
            left = min(until - time.monotonic(), self._before_sleep())
            caught = signal.sigtimedwait(SIGNALS, max(0.0, left))
        if caught is None:
            return None
        if caught.si_signo != signal.SIGCHLD:
            self.was_signaled = True
        if caught.si_signo == signal.SIGUSR1:
            self._begin_watch()
            self.on_status_request()
        return caught.si_signo

    def _send_end(self, members: "set[int]", due: "dict[int, float]", is_late: bool) -> None:
        """Send TERM to processes when it is `due`, or KILL to all."""
        now = time.monotonic()
        first = now + CLEANUP_S if due else now
        for pid in members:
            if is_late:
                process.send(pid, signal.SIGKILL)
            elif due.setdefault(pid, first) <= now:
                process.send(pid, signal.SIGTERM)
                process.send(pid, signal.SIGCONT)
                due[pid] = math.inf

    def _members(self) -> "set[int]":
        processes = process.table()
        members = process.descendants(processes, os.getpid())
        if not self.is_reaper:
            members.update(pid for pid in processes if process.marks(pid) == self.mark)
        return members

    def await_end(self, pid: int, seconds: float) -> None:
        """Wait at most `seconds` for the end of a child in `ended`."""
        until = time.monotonic() + seconds
        self._reap()
        while self.ended.get(pid) is None and time.monotonic() < until:
            if self._sleep(until - time.monotonic()) == signal.SIGTERM:
                raise Terminated
            self._reap()

    def _reap(self) -> bool:
        """Reap the children that have ended; return whether there are others."""
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
            self._usage = None
            self.cpu += usage.ru_utime + usage.ru_stime
            peak = usage.ru_maxrss * 1024
            self.rss = max(self.rss, peak if peak > self._inherited else self._highest)
            if pid in self.ended:
                self.ended[pid] = status
            if pid == self.awaited:
                self.status = status
