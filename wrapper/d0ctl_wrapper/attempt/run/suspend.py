"""Suspension of a binary, for one or several causes.

The binary is asked by the command file first. If it does not comply in time, all processes
of the attempt are stopped by SIGSTOP.
"""

import signal
import time
from typing import Callable, Dict

from d0ctl_wrapper.attempt.run.clock import Clock
from d0ctl_wrapper.attempt.run.command_file import PAUSE, CommandFile
from d0ctl_wrapper.attempt.run.processes import ProcessTree
from d0ctl_wrapper.protocol.text import PAUSED

POLL_S = 0.2
"""The seconds between two checks of a binary that was asked to pause."""

SendState = Callable[[str, str], None]
"""Send the state of an attempt, and a sentence."""


class Suspension:
    """The causes for suspending a binary, and its state."""

    def __init__(
        self, tree: ProcessTree, command: CommandFile, clock: Clock, send_state: SendState
    ) -> None:
        self._tree = tree
        self._command = command
        self._clock = clock
        self._send_state = send_state
        self._causes: "Dict[str, str]" = {}
        self._deadline: "float | None" = None
        self._is_stopped = False
        self._how = ""
        """How it was suspended."""

    @property
    def is_wanted(self) -> bool:
        """Whether the binary is suspended, or is about to be."""
        return bool(self._causes)

    def want(self, cause: str, why: str, grace: float) -> None:
        """Suspend the binary for `cause`, if it is not yet; report each further cause."""
        if cause in self._causes:
            return
        is_first = not self._causes
        self._causes[cause] = why
        if is_first:
            self._deadline = time.monotonic() + grace
            self._command.write(PAUSE)
        elif self._deadline is None:
            self._report_suspended()

    def release(self, cause: str, because: str = "") -> None:
        """Drop a cause; without any the binary is resumed, else the others are reported."""
        if self._causes.pop(cause, None) is None:
            return
        if not self._causes:
            self._resume("resumed" + (": %s" % because if because else ""))
        elif self._deadline is None:
            self._report_suspended()

    def lift(self) -> None:
        """Resume the binary in spite of all causes, because it has to end."""
        if self._causes:
            self._causes.clear()
            self._resume("resumed")

    def proceed(self) -> "float | None":
        """Continue suspending; return the seconds until the next check, or None."""
        if self._deadline is None:
            return None
        answer = self._command.answer()
        if answer:
            self._suspended("paused by itself: %s" % answer)
        elif time.monotonic() >= self._deadline:
            self._is_stopped = True
            self._tree.signal(signal.SIGSTOP)
            self._suspended("stopped by SIGSTOP, since it did not pause by itself")
        return POLL_S if self._deadline is not None else None

    def _suspended(self, how: str) -> None:
        self._deadline = None
        self._clock.stop()
        self._how = how
        self._report_suspended()

    def _report_suspended(self) -> None:
        """Say why it is suspended; first that a person paused it, which only a person ends."""
        causes = sorted(self._causes.values(), key=lambda why: why != PAUSED)
        self._send_state("suspended", "; ".join([*causes, self._how]))

    def _resume(self, why: str) -> None:
        was_suspended = self._deadline is None
        self._deadline = None
        self._command.clear()
        if self._is_stopped:
            self._is_stopped = False
            self._tree.signal(signal.SIGCONT)
        self._clock.resume()
        if was_suspended:
            self._send_state("running", why)
