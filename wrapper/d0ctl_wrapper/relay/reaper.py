"""The only place that ends what is left of attempts whose wrapper died without an end message."""

import os
import signal
from typing import Collection, Dict, NamedTuple, Set

from d0ctl_wrapper.host import process
from d0ctl_wrapper.protocol.paths import NodePaths

PAUSE = 0.05
"""How many seconds the killed have until they are looked for again."""


class Grave(NamedTuple):
    """Why an attempt is dead; the session that its wrapper led, if that was our child."""

    why: str
    session: int


class Burial:
    """Attempts that are dead, and of which processes may be alive."""

    def __init__(self, paths: NodePaths) -> None:
        self._base = paths.base
        self._graves: "Dict[int, Grave]" = {}

    def __bool__(self) -> bool:
        return bool(self._graves)

    def begin(self, attempt: int, why: str, session: int = 0) -> None:
        """Take over an attempt without a wrapper."""
        self._graves.setdefault(attempt, Grave(why, session))

    def proceed(self, children: "Collection[int]") -> "Dict[int, str]":
        """Kill all that is left, and let go of the attempts of which nothing is, with the why.

        `children` are the children of this process that are to live.
        """
        if not self._graves:
            return {}
        left = self._left(children)
        for pids in left.values():
            for pid in pids:
                process.send(pid, signal.SIGKILL)
        gone = [attempt for attempt in self._graves if attempt not in left]
        return {attempt: self._graves.pop(attempt).why for attempt in gone}

    def _left(self, children: "Collection[int]") -> "Dict[int, Set[int]]":
        """Find the processes of dead attempts: marked, or in the session of the wrapper.

        An orphan that hid both marks has become our own child, as we are its reaper: which
        attempt it was of is unknown then, so all wait for its end.
        """
        left: "Dict[int, Set[int]]" = {}
        sessions = {grave.session: one for one, grave in self._graves.items() if grave.session}
        for pid, entry in process.table().items():
            if pid == os.getpid() or pid in children:
                continue
            if entry.parent == os.getpid():
                for attempt in self._graves:
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
        return attempt if attempt in self._graves else None
