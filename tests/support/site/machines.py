"""The machines of one test: what is started on them lies in one folder and ends with it."""

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from d0ctl.config import Home
from d0ctl.store import Store, open_store
from tests.support.forks import Process
from tests.support.sshd import Sshd
from tests.support.waiting import Pid, numbers, proc, wait_until


class Machines:
    """A control host with its home, and nodes behind sshds, under `folder`."""

    def __init__(self, folder: Path, store: Store | None = None) -> None:
        self.folder = folder
        self.home = store.home if store else Home(folder / "home")
        self._store = store
        self._reader: Store | None = None
        self.stack = ExitStack()
        self.sshds: dict[str, Sshd] = {}
        self.forked: list[Process] = []

    @property
    def store(self) -> Store:
        """The store that stays open during the test."""
        assert self._store is not None, "use `opened` where a daemon is at work"
        return self._store

    @contextmanager
    def opened(self, *, read_only: bool = False) -> Iterator[Store]:
        """Have the store open: the one of the test, or one for now."""
        store = self._store or (self._reader if read_only else None)
        if store:
            yield store
        else:
            with open_store(self.home, read_only=read_only) as store:
                yield store

    @contextmanager
    def reading(self) -> Iterator[Store]:
        """Read by one connection meanwhile: a new one reads the whole schema."""
        with self.opened(read_only=True) as store:
            before, self._reader = self._reader, store
            try:
                yield store
            finally:
                self._reader = before

    def start_sshd(self, name: str, **options: Any) -> Sshd:
        """A machine that can be reached by ssh, gone with the test."""
        sshd = self.stack.enter_context(Sshd(self.folder / name, **options))
        self.sshds[name] = sshd
        return sshd

    def kill_processes(self) -> None:
        """Kill all that was started here, and what it starts meanwhile."""

        def gone() -> bool:
            found = self.processes()
            for pid in found:
                pid.kill(signal.SIGKILL)
            return not found

        wait_until(gone, what="no process is left")

    def processes(self) -> list[Pid]:
        """All that was started here, on the control host or a node, whatever it descends from."""
        mark = os.fsencode(f"{self.folder}/")
        found = []
        for number in numbers():
            with suppress(OSError):
                is_ours = mark in proc(number, "cmdline") or mark in proc(number, "environ")
                if is_ours and number != os.getpid() and (pid := Pid.of(number)):
                    found.append(pid)
        forked = (Pid.of(process.pid) for process in self.forked if process.poll() is None)
        return [*found, *(pid for pid in forked if pid and pid not in found)]
