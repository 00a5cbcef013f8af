"""The reaper: ends the processes of attempts whose wrapper died without an end message."""

import os
import signal
from typing import Collection, Dict, NamedTuple, Set

from d0ctl_wrapper.host import process
from d0ctl_wrapper.protocol.paths import NodePaths

PAUSE_S = 0.05
"""The seconds from a kill to the next check."""


class DeadAttempt(NamedTuple):
    """Why an attempt is dead, and the session of its wrapper if it was a child of this relay."""

    why: str
    session: int


class Reaper:
    """The dead attempts whose processes may be alive."""

    def __init__(self, paths: NodePaths) -> None:
        self._base = paths.base
        self._dead: "Dict[int, DeadAttempt]" = {}

    def __bool__(self) -> bool:
        return bool(self._dead)

    def begin(self, attempt: int, why: str, session: int = 0) -> None:
        """Add an attempt whose wrapper is gone."""
        self._dead.setdefault(attempt, DeadAttempt(why, session))

    def proceed(self, children: "Collection[int]") -> "Dict[int, str]":
        """Kill the remaining processes; return attempts that have none left, with the reasons.

        `children` are the children of this process that must not be killed.
        """
        if not self._dead:
            return {}
        left = self._left(children)
        for pids in left.values():
            for pid in pids:
                process.send(pid, signal.SIGKILL)
        gone = [attempt for attempt in self._dead if attempt not in left]
        return {attempt: self._dead.pop(attempt).why for attempt in gone}

    def _left(self, children: "Collection[int]") -> "Dict[int, Set[int]]":
        """Find the processes of dead attempts, by their marks or the session of the wrapper.

        An orphan without either is a child of this process, which adopts orphans. Its attempt
        is unknown, so all dead attempts wait for its end.
        """
        left: "Dict[int, Set[int]]" = {}
        sessions = {dead.session: attempt for attempt, dead in self._dead.items() if dead.session}
        for pid, entry in process.table().items():
            if pid == os.getpid() or pid in children:
                continue
            if entry.parent == os.getpid():
                for attempt in self._dead:
                    left.setdefault(attempt, set()).add(pid)
            owner = sessions.get(entry.session) or self._marked(pid)
            if owner is not None:
                left.setdefault(owner, set()).add(pid)
        return left

    def _marked(self, pid: int) -> "int | None":
        marks = process.marks(pid)
        if marks is None or marks[0] != self._base or not marks[1].isdigit():
            return None
        attempt = int(marks[1])
        return attempt if attempt in self._dead else None
