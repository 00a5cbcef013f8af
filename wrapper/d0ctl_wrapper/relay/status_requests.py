"""The only place where a relay has wrappers say how they stand, without waiting for them."""

import os
import signal
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from d0ctl_wrapper.attempt.answer import STATUS
from d0ctl_wrapper.host import process, records
from d0ctl_wrapper.protocol import shape
from d0ctl_wrapper.protocol.paths import NodePaths, read
from d0ctl_wrapper.relay.loop import LONGEST

Frame = Dict[str, Any]

PATIENCE = 5.0
"""How many seconds a wrapper has to answer."""

LOOK = 0.02
"""Every so many seconds a relay looks whether a wrapper has answered."""

Mark = Optional[Tuple[int, int]]


class Question(NamedTuple):
    """What a wrapper has not answered yet; `before` marks the answer to an earlier question."""

    id: Any
    attempt: int
    before: Mark
    until: float


class Asking:
    """The questions that wait for their answers."""

    def __init__(self, paths: NodePaths, send: "Callable[[Frame], None]") -> None:
        self._paths = paths
        self._send = send
        self._boot_id = process.boot_id()
        self._open: "List[Question]" = []

    def ask(self, frame: Frame) -> None:
        """Wake a wrapper that it says how it stands; `work` sends what it says."""
        attempt = frame["attempt"]
        before, until = self._mark(attempt), time.monotonic() + PATIENCE
        self._open.append(Question(frame["id"], attempt, before, until))
        record = records.read_record(self._paths.attempt(attempt))
        if record is not None and records.is_running(record, self._boot_id):
            process.send(record.pid, signal.SIGUSR1)

    def work(self) -> float:
        """Send the answers that are there; give the seconds until there may be more."""
        self._open = [one for one in self._open if not self._settle(one)]
        return LOOK if self._open else LONGEST

    def _settle(self, one: Question) -> bool:
        """Answer a question if that can be done by now."""
        state = records.state(self._paths.attempt(one.attempt), self._boot_id)
        if state != "running":
            return self._answer(one, state)
        if self._mark(one.attempt) != one.before:
            return self._answer(one, state, self._read(one.attempt))
        if time.monotonic() < one.until:
            return False
        return self._answer(one, state, None, "it did not answer within %g s" % PATIENCE)

    def _answer(
        self, one: Question, state: str, status: "Frame | None" = None, message: str = ""
    ) -> bool:
        answer = {"kind": "status", "id": one.id, "attempt": one.attempt, "state": state}
        self._send({**answer, "status": status, "message": message})
        return True

    def _mark(self, attempt: int) -> Mark:
        """Tell one answer from the next, as each is a file of its own."""
        try:
            status = os.stat(self._paths.attempt(attempt).file(STATUS))
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns

    def _read(self, attempt: int) -> "Frame | None":
        try:
            found = shape.decode(read(self._paths.attempt(attempt).file(STATUS)))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None
