"""Inputs that arrive for attempts while these run."""

import signal
from typing import Any, Dict, List

from d0ctl_wrapper.relay.attempts.supervisor import Supervisor

Frame = Dict[str, Any]


class InputDelivery:
    """Appends inputs to the lists of running attempts."""

    def __init__(self, supervisor: Supervisor) -> None:
        self.supervisor = supervisor
        self._pending: "List[Frame]" = []

    def add(self, entries: "List[Frame]") -> None:
        """Deliver inputs to running attempts; deliver them later if the disk is full.

        Inputs of an attempt stay in order, because the last one closes its list.
        """
        waiting = {entry["attempt"] for entry in self._pending}
        for entry in entries:
            attempt = entry["attempt"]
            if attempt not in self.supervisor.live:
                continue
            if attempt in waiting:
                self._pending.append(entry)
                continue
            try:
                is_new = self.supervisor.input_streams.append(
                    attempt, entry["inputs"], entry["closed"]
                )
            except OSError as error:
                self._pending.append(entry)
                waiting.add(attempt)
                why = "can't deliver inputs to attempt %d: %s" % (attempt, error.strerror)
                self.supervisor.send({"kind": "fault", "message": why})
                continue
            if is_new:
                self.supervisor.signal(attempt, signal.SIGUSR1)
            if entry["closed"]:
                self.supervisor.grant(attempt)

    def add_again(self) -> None:
        """Deliver the inputs for which the disk was full before."""
        entries, self._pending = self._pending, []
        self.add(entries)
