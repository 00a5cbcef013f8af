"""The periodic work of a relay: reap, start, forward, clean up."""

import gc
import os
import signal
import sys
import time
from typing import Any, Callable, Dict, List, Set

from d0ctl_wrapper.attempt.run import environment
from d0ctl_wrapper.attempt.run.detach import RelayContext
from d0ctl_wrapper.bundle.bundle_maker import make_aside
from d0ctl_wrapper.host import process
from d0ctl_wrapper.protocol.lease import ELSEWHERE
from d0ctl_wrapper.protocol.paths import NodePaths
from d0ctl_wrapper.relay import lock, sweep
from d0ctl_wrapper.relay.attempts import reaper
from d0ctl_wrapper.relay.attempts.elsewhere import WrappersElsewhere
from d0ctl_wrapper.relay.attempts.pool import WrapperPool
from d0ctl_wrapper.relay.attempts.supervisor import Supervisor, Wrappers
from d0ctl_wrapper.relay.event_loop import Loop
from d0ctl_wrapper.relay.helpers import Helpers
from d0ctl_wrapper.relay.service import Service
from d0ctl_wrapper.relay.uplink import Uplink

RESCAN_S = 5.0
"""The seconds between two checks for messages and ended wrappers without a signal."""

RESCAN_ELSEWHERE_S = 1.0
"""The same if wrappers are on other machines, where only the spool shows new messages."""

LEAST_FREE = 1024 * 1024
"""The free bytes below which a disk is too full for messages."""


class Periodic:
    """One relay in charge of a BASE: its parts, and the work that is due."""

    def __init__(
        self,
        loop: Loop,
        paths: NodePaths,
        cpus: int,
        gpus: "List[str]",
        umask: int,
        keep_logs: float,
        is_elsewhere: bool = False,
        driver: str = "",
        restored: float = 0.0,
    ) -> None:
        paths.make()
        self.keep_logs = keep_logs
        self.loop = loop
        self.paths = paths
        self.lock = lock.take(paths.lock, driver, restored)
        process.become_reaper()
        self.uplink = Uplink(paths, loop.stream)
        self.helpers = Helpers(loop)
        boot_id = ELSEWHERE if is_elsewhere else process.boot_id()
        context = RelayContext(paths, boot_id, environment.inherited(), umask)
        self.pool: Wrappers = (
            WrappersElsewhere(paths)
            if is_elsewhere
            else WrapperPool(context, loop.watch, loop.unwatch, self.uplink.add)
        )
        self._rescan_s = RESCAN_ELSEWHERE_S if is_elsewhere else RESCAN_S
        self.supervisor = Supervisor(
            context, cpus, gpus, self.pool, loop.stream.send, self.uplink.send_again, self._clean
        )
        self.service = Service(
            paths, loop.stream, self.supervisor, self.uplink, self.helpers, self._set_keep_logs
        )
        self._rescan_at = time.monotonic() + self._rescan_s
        self._expire_at = time.monotonic() + sweep.EXPIRE_EVERY_S
        self._is_full = False
        if is_elsewhere:
            make_aside(sys.argv[0])
        self._listen()
        _settle_memory()

    def adopt(self) -> "List[Dict[str, Any]]":
        """Take over the attempts of previous relays, and list them."""
        listing = self.supervisor.adopt()
        self.uplink.sweep(self.supervisor.live)
        self.supervisor.queue_cpu_requests()
        self._sweep({entry["attempt"] for entry in listing if entry["state"] != "running"})
        return listing

    def _sweep(self, ended: "Set[int]") -> None:
        """Clean up after previous attempts and connections."""
        files = sweep.asides(self.paths)
        if ended or files:
            self._in_background(lambda: sweep.sweep(self.paths, ended, files, self.keep_logs))

    def _set_keep_logs(self, seconds: float) -> None:
        """Keep logs for `seconds` from now on."""
        self.keep_logs = seconds
        self._expire_at = self._rescan_at = time.monotonic()

    def _clean(self, attempt: int) -> None:
        """Clean up after a dead attempt."""
        self._in_background(lambda: sweep.clean(self.paths.attempt(attempt)))

    def _in_background(self, work: "Callable[[], None]") -> None:
        """Do work in a helper without an answer."""
        self.helpers.submit(lambda: _without_frames(work), None)

    def _listen(self) -> None:
        """Let signals, and wrappers with a message, wake the loop."""
        reader, writer = os.pipe()
        for descriptor in (reader, writer):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(writer)
        signal.signal(signal.SIGCHLD, _ignore)
        signal.signal(signal.SIGTERM, self._end)
        self.loop.watch(reader, lambda: self._reap(reader))
        fifo = os.open(self.paths.wake, os.O_RDWR | os.O_NONBLOCK)
        self.loop.watch(fifo, lambda: self._on_wake(fifo))

    def _end(self, number: int, frame: Any) -> None:
        self.loop.is_done = True

    def _on_wake(self, fifo: int) -> None:
        os.read(fifo, 65536)
        self.uplink.request_collect()
        self.supervisor.check_adopted()
        self.supervisor.queue_cpu_requests()

    def _reap(self, reader: int) -> None:
        """Reap the children that have ended: wrappers, helpers, and their orphans."""
        os.read(reader, 65536)
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self.helpers.ended(pid)
            self.supervisor.ended(pid, status)
            self.uplink.request_collect()

    def work(self) -> float:
        """Do the due work, and return the seconds until there may be more."""
        now = time.monotonic()
        if now >= self._rescan_at:
            self._rescan()
        self.supervisor.reap_dead(self.helpers.children | self.pool.pids)
        self.supervisor.start_waiting()
        self.uplink.send_reported()
        self.uplink.collect()
        delays = [
            self._rescan_at - now,
            self.uplink.delay(),
            self.pool.retire(),
            self.service.status_requests.work(),
        ]
        if self.supervisor.reaper:
            delays.append(reaper.PAUSE_S)
        return min(delay for delay in delays if delay is not None)

    def _rescan(self) -> None:
        """Check for messages, ended adopted wrappers, and a full disk."""
        self._rescan_at = time.monotonic() + self._rescan_s
        self.uplink.request_collect()
        self.supervisor.check_adopted()
        self.supervisor.queue_cpu_requests()
        self.service.inputs.add_again()
        self._check_disk()
        if time.monotonic() >= self._expire_at:
            self._expire_at = time.monotonic() + sweep.EXPIRE_EVERY_S
            self._in_background(lambda: sweep.expire(self.paths, self.keep_logs))

    def _check_disk(self) -> None:
        status = os.statvfs(self.paths.spool)
        was_full, self._is_full = self._is_full, status.f_bavail * status.f_frsize < LEAST_FREE
        if self._is_full and not was_full:
            self.service.fault("the disk of the spool is full; messages wait until it is not")


def _settle_memory() -> None:
    """Freeze all present objects for the garbage collector, so that forks share their memory."""
    gc.collect()
    if hasattr(gc, "freeze"):
        gc.freeze()


def _without_frames(work: "Callable[[], None]") -> "List[Dict[str, Any]]":
    """Do work, and return no frames."""
    work()
    return []


def _ignore(number: int, frame: Any) -> None:
    """Do nothing: the signal wakes the loop."""
