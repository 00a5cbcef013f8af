"""Wrappers elsewhere: each is a job of a batch system, on any machine that shares this BASE.

The control host submits the jobs, and says when they are over. The relay only puts launches into
the folders of their attempts, where the jobs find them, and orders beside them.
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
"""In place of a boot, in the record of an attempt whose job has ended without it."""


class WrappersElsewhere:
    """The wrappers of a relay that starts none itself; a pid stands for an attempt here."""

    is_elsewhere = True

    def __init__(self, paths: NodePaths) -> None:
        self._paths = paths
        self.pids: "Set[int]" = set()
        self.on_end: "Callable[[int], None]" = lambda attempt: None
        self.on_computed: "Callable[[int], None]" = lambda attempt: None
        self.on_unread: "Callable[[Launch], None]" = lambda launch: None

    def start(self, launch: Launch) -> int:
        """Leave a launch for its job. Raises OSError on a full disk."""
        attempt: int = launch["attempt"]
        folder = self._paths.attempt(attempt)
        attempt_records.write_record(folder, Record(attempt, 0, ELSEWHERE, load(launch)))
        path = folder.file(LAUNCH)
        with open(path + b".aside", "wb") as file:
            file.write(json_text.encode(launch).encode("ascii"))
        os.rename(path + b".aside", path)
        return attempt

    def withdraw(self, attempt: int) -> bool:
        """Take a launch back; return False if a job has begun with it."""
        folder = self._paths.attempt(attempt)
        if not attempt_records.claim(folder):
            return False
        remove(folder.path)
        return True

    def give_up(self, attempt: int) -> None:
        """Record that the job of an attempt is over, so that nothing begins or reuses it."""
        folder = self._paths.attempt(attempt)
        attempt_records.claim(folder)
        write(folder.file(b"wrapper"), b"0 0 %s 0\n" % OVER.encode("ascii"))

    def signal(self, pid: int, number: int) -> None:
        """Let the job of an attempt look at its orders."""
        attempt_records.call(self._paths.attempt(pid), Record(pid, 0, ELSEWHERE, 0))

    def ended(self, pid: int) -> None:
        """No child of the relay is a wrapper."""

    def retire(self) -> None:
        """No wrapper is idle."""
