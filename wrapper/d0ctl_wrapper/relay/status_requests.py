"""Requests for the status of running attempts, answered without blocking the relay."""

import os
import time
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from d0ctl_wrapper.attempt.status_file import STATUS
from d0ctl_wrapper.host import attempt_records, process
from d0ctl_wrapper.protocol.checks import json_text
from d0ctl_wrapper.protocol.paths import NodePaths, read
from d0ctl_wrapper.relay.event_loop import LONGEST_WAIT_S

Frame = Dict[str, Any]

ANSWER_TIMEOUT_S = 5.0
"""The seconds that a wrapper has to answer."""

POLL_S = 0.02
"""The seconds between two checks for an answer."""

Mark = Optional[Tuple[int, int]]


class StatusRequest(NamedTuple):
    """A request without an answer; `before` identifies the answer to an earlier request."""

    id: Any
    attempt: int
    before: Mark
    until: float


class StatusRequests:
    """The requests that wait for their answers."""

    def __init__(self, paths: NodePaths, send: "Callable[[Frame], None]") -> None:
        self._paths = paths
        self._send = send
        self._boot_id = process.boot_id()
        self._open: "List[StatusRequest]" = []

    def ask(self, frame: Frame) -> None:
        """Ask a wrapper for its status; `work` sends the answer."""
        attempt = frame["attempt"]
        before, until = self._mark(attempt), time.monotonic() + ANSWER_TIMEOUT_S
        self._open.append(StatusRequest(frame["id"], attempt, before, until))
        folder = self._paths.attempt(attempt)
        record = attempt_records.read_record(folder)
        if record is not None and attempt_records.state(folder, self._boot_id) == "running":
            attempt_records.call(folder, record)

    def work(self) -> float:
        """Send the available answers; return the seconds until there may be more."""
        self._open = [request for request in self._open if not self._settle(request)]
        return POLL_S if self._open else LONGEST_WAIT_S

    def _settle(self, request: StatusRequest) -> bool:
        """Answer a request if possible; return whether it was answered."""
        state = attempt_records.state(self._paths.attempt(request.attempt), self._boot_id)
        if state != "running":
            return self._answer(request, state)
        if self._mark(request.attempt) != request.before:
            return self._answer(request, state, self._read(request.attempt))
        if time.monotonic() < request.until:
            return False
        return self._answer(
            request, state, None, "the wrapper did not answer within %g s" % ANSWER_TIMEOUT_S
        )

    def _answer(
        self, request: StatusRequest, state: str, status: "Frame | None" = None, message: str = ""
    ) -> bool:
        answer = {"kind": "status", "id": request.id, "attempt": request.attempt, "state": state}
        self._send({**answer, "status": status, "message": message})
        return True

    def _mark(self, attempt: int) -> Mark:
        """Return the identity of the present answer; each answer is a new file."""
        try:
            status = os.stat(self._paths.attempt(attempt).file(STATUS))
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns

    def _read(self, attempt: int) -> "Frame | None":
        try:
            found = json_text.decode(read(self._paths.attempt(attempt).file(STATUS)))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None
