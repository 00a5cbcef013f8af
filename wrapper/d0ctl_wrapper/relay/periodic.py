"""The only place that knows what a relay does by itself, and when."""

import gc
import os
import signal
import time
from typing import Any, Callable, Dict, List, Set

from d0ctl_wrapper.attempt.run import environment
from d0ctl_wrapper.attempt.run.detach import Setting
from d0ctl_wrapper.host import process
from d0ctl_wrapper.protocol.paths import NodePaths
from d0ctl_wrapper.relay import lock, reaper, sweep
from d0ctl_wrapper.relay.helpers import Helpers
from d0ctl_wrapper.relay.loop import Loop
from d0ctl_wrapper.relay.service import Service
from d0ctl_wrapper.relay.supervisor import Keeper
from d0ctl_wrapper.relay.uplink import Post

RESCAN = 5.0
"""Every so many seconds a relay looks for what nothing woke it for."""

LEAST_FREE = 1024 * 1024
"""With fewer bytes free, a disk is too full for messages."""


class Duty:
    """One relay in charge of a BASE: it reaps, starts, passes messages on, and buries."""

    def __init__(
        self, loop: Loop, paths: NodePaths, cpus: int, umask: int, keep_logs: float
    ) -> None:
        paths.make()
        self.keep_logs = keep_logs
        self.loop = loop
        self.paths = paths
        self.lock = lock.take(paths.lock)
        process.become_reaper()
        self.post = Post(paths, loop.stream)
        self.helpers = Helpers(loop)
        setting = Setting(paths, process.boot_id(), environment.inherited(), umask)
        self.keeper = Keeper(setting, cpus, loop.stream.send, self.post.again, self._clean)
        self.service = Service(paths, loop.stream, self.keeper, self.post, self.helpers)
        self.service.verbs["keep"] = lambda frame: self._keep(frame["seconds"])
        self._rescan_at = time.monotonic() + RESCAN
        self._expire_at = time.monotonic() + sweep.EVERY
        self._is_full = False
        self._listen()
        _settle_memory()

    def adopt(self) -> "List[Dict[str, Any]]":
        """Take over the attempts of former relays, and list them."""
        listing = self.keeper.adopt()
        self.post.sweep(self.keeper.live)
        self.keeper.look_for_asking()
        self._sweep({entry["attempt"] for entry in listing if entry["state"] != "running"})
        return listing

    def _sweep(self, ended: "Set[int]") -> None:
        """Have the node cleared of what former attempts and connections left."""
        files = sweep.asides(self.paths)
        if ended or files:
            self._in_passing(lambda: sweep.sweep(self.paths, ended, files, self.keep_logs))

    def _keep(self, seconds: float) -> None:
        """Keep logs for so long from now on."""
        self.keep_logs = seconds
        self._expire_at = self._rescan_at = time.monotonic()

    def _clean(self, attempt: int) -> None:
        """Have the node cleared of what a dead attempt was at work with."""
        self._in_passing(lambda: sweep.clean(self.paths.attempt(attempt)))

    def _in_passing(self, work: "Callable[[], None]") -> None:
        """Have some work done of which there is nothing to say."""
        self.helpers.submit(lambda: _quietly(work), None)

    def _listen(self) -> None:
        """Have the loop woken by signals, and by wrappers with a message."""
        reader, writer = os.pipe()
        for descriptor in (reader, writer):
            os.set_blocking(descriptor, False)
        signal.set_wakeup_fd(writer)
        signal.signal(signal.SIGCHLD, _ignore)
        signal.signal(signal.SIGTERM, self._end)
        self.loop.watch(reader, lambda: self._reap(reader))
        fifo = os.open(self.paths.wake, os.O_RDWR | os.O_NONBLOCK)
        self.loop.watch(fifo, lambda: self._be_poked(fifo))

    def _end(self, number: int, frame: Any) -> None:
        self.loop.is_done = True

    def _be_poked(self, fifo: int) -> None:
        os.read(fifo, 65536)
        self.post.want()
        self.keeper.check_adopted()
        self.keeper.look_for_asking()

    def _reap(self, reader: int) -> None:
        """Collect the children that have ended: wrappers, helpers, and orphans of theirs."""
        os.read(reader, 65536)
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self.helpers.ended(pid)
            self.keeper.ended(pid, status)

    def work(self) -> float:
        """Do what is due, and give the seconds until there may be more."""
        now = time.monotonic()
        if now >= self._rescan_at:
            self._rescan()
        self.keeper.bury({*self.helpers.children, *self.keeper.children})
        self.keeper.fill()
        self.post.collect()
        delays = [self._rescan_at - now, self.post.delay(), self.service.asking.work()]
        if self.keeper.burial:
            delays.append(reaper.PAUSE)
        return min(delay for delay in delays if delay is not None)

    def _rescan(self) -> None:
        """Look for messages without a poke, ended adoptees, and a full disk."""
        self._rescan_at = time.monotonic() + RESCAN
        self.post.want()
        self.keeper.check_adopted()
        self.keeper.look_for_asking()
        self.keeper.feed_again()
        self._check_disk()
        if time.monotonic() >= self._expire_at:
            self._expire_at = time.monotonic() + sweep.EVERY
            self._in_passing(lambda: sweep.expire(self.paths, self.keep_logs))

    def _check_disk(self) -> None:
        status = os.statvfs(self.paths.spool)
        was_full, self._is_full = self._is_full, status.f_bavail * status.f_frsize < LEAST_FREE
        if self._is_full and not was_full:
            self.service.fault("the disk of the spool is full; messages wait until it is not")


def _settle_memory() -> None:
    """Keep what is there now out of the garbage collector's way, so that forks share it."""
    gc.collect()
    if hasattr(gc, "freeze"):
        gc.freeze()


def _quietly(work: "Callable[[], None]") -> "List[Dict[str, Any]]":
    """Do some work, and give no frames."""
    work()
    return []


def _ignore(number: int, frame: Any) -> None:
    """Let a signal do no more than wake the loop."""
