"""The attempts of a node that wait for space on its disk.

Each locks a byte of one file, whose position is its id, so the lock ends with its process.
"""

import fcntl
from typing import IO, Optional

from d0ctl_wrapper.host import attempt_records, process
from d0ctl_wrapper.protocol.paths import AttemptFolder


class SpaceQueue:
    """The place of one attempt among those that wait for space."""

    def __init__(self, folder: AttemptFolder) -> None:
        self._folder = folder
        self._file: "Optional[IO[bytes]]" = None

    def join(self) -> None:
        """Begin to wait; if the file cannot be made, the other attempts do not know of it."""
        try:
            path = self._folder.node.base + b"/waiting"
            self._file = open(path, "a+b", buffering=0)  # noqa: SIM115 (open while it waits)
            fcntl.lockf(self._file, fcntl.LOCK_EX, 1, self._folder.attempt)
        except OSError:
            self.leave()

    def leave(self) -> None:
        """Stop waiting."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def has_to_end(self) -> bool:
        """Return whether all attempts of the node wait, and this one, of several, began last."""
        if self._file is None:
            return False
        others = [attempt for attempt in self._running() if attempt != self._folder.attempt]
        is_last = bool(others) and max(others) < self._folder.attempt
        return is_last and all(self._waits(attempt) for attempt in others)

    def _running(self) -> "list[int]":
        """Return the attempts with a running wrapper; none if that is unknown."""
        node, boot_id = self._folder.node, process.boot_id()
        try:
            found = attempt_records.recorded(node)
        except OSError:
            return []
        return [id for id in found if attempt_records.state(node.attempt(id), boot_id) == "running"]

    def _waits(self, attempt: int) -> bool:
        """Return whether another attempt holds its lock."""
        assert self._file is not None
        try:
            fcntl.lockf(self._file, fcntl.LOCK_SH | fcntl.LOCK_NB, 1, attempt)
        except OSError:
            return True
        fcntl.lockf(self._file, fcntl.LOCK_UN, 1, attempt)
        return False
