"""The orders of the control host about attempts: kill, pause, resume, send again, forget."""

import os
import signal
from typing import Any, Callable, Collection, Dict, List

from d0ctl_wrapper.attempt import orders
from d0ctl_wrapper.host import attempt_records
from d0ctl_wrapper.protocol.paths import AttemptFolder
from d0ctl_wrapper.relay.attempts.elsewhere import WrappersElsewhere
from d0ctl_wrapper.relay.attempts.supervisor import Supervisor

Frame = Dict[str, Any]


class AttemptOrders:
    """Carries out orders about attempts that are queued, running or over."""

    def __init__(self, supervisor: Supervisor) -> None:
        self.supervisor = supervisor
        self.paths = supervisor.paths
        self.live = supervisor.live
        self.queue = supervisor.queue
        self.pool = supervisor.pool

    def kill(self, attempts: "List[int]", kill: orders.Kill) -> None:
        """Kill attempts; queued ones are forgotten."""
        absent = []
        self.supervisor.check_adopted()
        for attempt in attempts:
            if attempt in self.live and not attempt_records.has_ended(self.paths.attempt(attempt)):
                if self.pool.withdraw(attempt):
                    self.supervisor.drop(attempt)
                    absent.append(attempt)
                else:
                    self._kill(attempt, kill)
            elif self.queue.drop(attempt) or not attempt_records.exists(
                self.paths.attempt(attempt)
            ):
                absent.append(attempt)
            else:
                self.supervisor.send_end(attempt)
        self._send_absent(absent)

    def resend(self, attempts: "List[int]") -> None:
        """Send the end messages of ended attempts again."""
        absent = []
        for attempt in attempts:
            if attempt_records.has_ended(self.paths.attempt(attempt)):
                self.supervisor.send_end(attempt)
            elif attempt not in self.live and attempt not in self.queue:
                if attempt_records.exists(self.paths.attempt(attempt)):
                    self.supervisor.send_end(attempt)
                else:
                    absent.append(attempt)
        self._send_absent(absent)

    def settle(self, attempts: "Collection[int]") -> None:
        """Forget those of these attempts that have ended elsewhere, as nothing else reports it."""
        for attempt in attempts:
            if attempt in self.live and attempt_records.has_ended(self.paths.attempt(attempt)):
                self.supervisor.drop(attempt)

    def over(self, entries: "List[Frame]") -> None:
        """Settle attempts whose jobs have ended: send their end messages, or report them dead."""
        for entry in entries:
            attempt, folder = entry["attempt"], self.paths.attempt(entry["attempt"])
            try:
                os.listdir(folder.path)  # lets a network file system look at its server
            except OSError:
                continue
            if attempt in self.live:
                self.supervisor.drop(attempt)
            if attempt_records.has_ended(folder):
                self.supervisor.send_end(attempt)
            elif isinstance(self.pool, WrappersElsewhere):
                self._give_up(self.pool, entry)

    def _give_up(self, pool: WrappersElsewhere, entry: Frame) -> None:
        """Report an attempt dead, and order a wrapper that survived its job to end."""
        attempt = entry["attempt"]
        self._write_order(attempt, lambda folder: orders.ask_kill(folder, orders.Kill(0.0, False)))
        pool.give_up(attempt)
        self.supervisor.clean(attempt)
        self.supervisor.send({"kind": "dead", "attempts": [entry]})

    def forget(self, attempts: "List[int]") -> "List[int]":
        """Drop queued attempts, and return the attempts whose folders may be removed."""
        if self.supervisor.is_elsewhere:
            self.settle(attempts)
        for attempt in attempts:
            self.queue.drop(attempt)
            if attempt in self.live:
                why = "attempt %d is running and cannot be forgotten" % attempt
                self.supervisor.send({"kind": "fault", "message": why})
        return [attempt for attempt in attempts if attempt not in self.live]

    def _kill(self, attempt: int, kill: orders.Kill) -> None:
        self._write_order(attempt, lambda folder: orders.ask_kill(folder, kill))
        self.supervisor.signal(attempt, signal.SIGTERM)

    def pause(self, attempts: "List[int]", grace: float) -> None:
        """Suspend attempts; queued ones are forgotten, so that others get their CPUs."""
        absent = []
        for attempt in attempts:
            if self.queue.pause(attempt):
                absent.append(attempt)
            else:
                self._order(attempt, lambda folder: orders.ask_pause(folder, grace))
        self._send_absent(absent)

    def resume(self, attempts: "List[int]") -> None:
        """Resume attempts."""
        for attempt in attempts:
            self.queue.resume(attempt)
            self._order(attempt, orders.ask_resume)
        self.supervisor.start_waiting()

    def _order(self, attempt: int, write: "Callable[[AttemptFolder], None]") -> None:
        """Write an order for a running wrapper, and wake it."""
        if attempt in self.live:
            self._write_order(attempt, write)
            self.supervisor.signal(attempt, signal.SIGUSR1)

    def _write_order(self, attempt: int, write: "Callable[[AttemptFolder], None]") -> None:
        try:
            write(self.paths.attempt(attempt))
        except OSError as error:
            why = "can't write an order for attempt %d: %s" % (attempt, error.strerror)
            self.supervisor.send({"kind": "fault", "message": why})

    def _send_absent(self, attempts: "List[int]") -> None:
        if attempts:
            self.supervisor.send({"kind": "absent", "attempts": attempts})
