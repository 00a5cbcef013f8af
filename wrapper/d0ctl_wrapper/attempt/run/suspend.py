"""The only place that makes a binary stand still, for whoever wants it, and lets it go on.

The binary is asked by the command file first. If it does not comply in time, all processes
of the attempt are stopped by SIGSTOP.
"""

import signal
import time
from typing import Callable, Dict

from d0ctl_wrapper.attempt.run.clock import Clock
from d0ctl_wrapper.attempt.run.command_file import PAUSE, CommandFile
from d0ctl_wrapper.attempt.run.processes import Tree

LOOK = 0.2
"""Every so many seconds a binary that was asked to pause is looked at."""

Tell = Callable[[str, str], None]
"""Sends the state of an attempt, and a sentence on it."""


class Suspension:
    """Who wants a binary to stand still, and whether it does."""

    def __init__(self, tree: Tree, command: CommandFile, clock: Clock, tell: Tell) -> None:
        self._tree = tree
        self._command = command
        self._clock = clock
        self._tell = tell
        self._wishes: "Dict[str, str]" = {}
        self._deadline: "float | None" = None
        self._is_stopped = False

    @property
    def is_wanted(self) -> bool:
        """Tell whether the binary stands still, or is about to."""
        return bool(self._wishes)

    def want(self, who: str, why: str, grace: float) -> None:
        """Have the binary stand still on behalf of `who`; what is wanted already is no news."""
        is_first = not self._wishes
        self._wishes.setdefault(who, why)
        if is_first:
            self._deadline = time.monotonic() + grace
            self._command.give(PAUSE)

    def release(self, who: str, because: str = "") -> None:
        """Want it no more; the binary goes on when nobody else does."""
        if self._wishes.pop(who, None) is not None and not self._wishes:
            self._go_on("it goes on" + (": %s" % because if because else ""))

    def lift(self) -> None:
        """Let the binary go on, whoever wants it to stand still: it is to end."""
        for who in list(self._wishes):
            self.release(who)

    def proceed(self) -> "float | None":
        """Go on towards a standstill; give the seconds until the next look, None if none is due."""
        if self._deadline is None:
            return None
        answer = self._command.answer()
        if answer:
            self._stand("it complied: %s" % answer)
        elif time.monotonic() >= self._deadline:
            self._is_stopped = True
            self._tree.signal(signal.SIGSTOP)
            self._stand("stopped by SIGSTOP, as it did not comply")
        return LOOK if self._deadline is not None else None

    def _stand(self, how: str) -> None:
        self._deadline = None
        self._clock.stop()
        self._tell("suspended", "%s; %s" % ("; ".join(self._wishes.values()), how))

    def _go_on(self, why: str) -> None:
        was_standing = self._deadline is None
        self._deadline = None
        self._command.take_back()
        if self._is_stopped:
            self._is_stopped = False
            self._tree.signal(signal.SIGCONT)
        self._clock.go_on()
        if was_standing:
            self._tell("running", why)
