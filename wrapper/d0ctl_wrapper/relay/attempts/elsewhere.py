"""Wrappers elsewhere: each is a job of a batch system, on any machine that shares this BASE.

The control host submits the jobs and reports when they have ended. The relay only writes launches
and orders into the folders of the attempts, where the jobs find them.
"""

import os
from typing import Callable, Set

from d0ctl_wrapper.host import attempt_records
from d0ctl_wrapper.host.attempt_records import LAUNCH, Record
from d0ctl_wrapper.protocol.checks import json_text
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.lease import ELSEWHERE
from d0ctl_wrapper.protocol.paths import NodePaths, remove, write
from d0ctl_wrapper.relay.attempts.cpus import load

OVER = "over"
"""The boot id in the record of an attempt whose job has ended without running it."""


class WrappersElsewhere:
    """The wrappers of a relay that starts none itself; the number of an attempt replaces a pid."""

    is_elsewhere = True

    def __init__(self, paths: NodePaths) -> None:
        self._paths = paths
        self.pids: "Set[int]" = set()
        self.on_end: "Callable[[int], None]" = lambda attempt: None
        self.on_computed: "Callable[[int], None]" = lambda attempt: None
        self.on_unread: "Callable[[Launch], None]" = lambda launch: None

    def start(self, launch: Launch) -> int:
        """Write a launch for its job to read. Raises OSError on a full disk."""
        attempt: int = launch["attempt"]
        folder = self._paths.attempt(attempt)
        attempt_records.write_record(folder, Record(attempt, 0, ELSEWHERE, load(launch)))
        path = folder.file(LAUNCH)
        with open(path + b".aside", "wb") as file:
            file.write(json_text.encode(launch).encode("ascii"))
        os.rename(path + b".aside", path)
        return attempt

    def withdraw(self, attempt: int) -> bool:
        """Undo a launch; return False if a job has read it."""
        folder = self._paths.attempt(attempt)
        if not attempt_records.claim(folder):
            return False
        remove(folder.path)
        return True

    def give_up(self, attempt: int) -> None:
        """Record that the job of an attempt has ended, so that nothing starts or reuses it."""
        folder = self._paths.attempt(attempt)
        attempt_records.claim(folder)
        write(folder.file(b"wrapper"), b"0 0 %s 0\n" % OVER.encode("ascii"))

    def signal(self, pid: int, number: int) -> None:
        """Wake the wrapper of an attempt, so that it reads its orders."""
        attempt_records.call(self._paths.attempt(pid), Record(pid, 0, ELSEWHERE, 0))

    def ended(self, pid: int) -> None:
        """Return None: no child of the relay is a wrapper."""

    def retire(self) -> None:
        """Return None: no wrapper is idle."""
