"""What interrupts a running chain: orders to pause or to end, and more of its inputs."""

import math
import time
from typing import List

from d0ctl_wrapper.attempt import orders
from d0ctl_wrapper.attempt.intervals import Watch, Watcher
from d0ctl_wrapper.attempt.reporter import Reporter
from d0ctl_wrapper.attempt.run.clock import Clock
from d0ctl_wrapper.attempt.run.command_file import CommandFile
from d0ctl_wrapper.attempt.run.processes import ProcessTree, Terminated
from d0ctl_wrapper.attempt.run.suspend import POLL_S, Suspension
from d0ctl_wrapper.attempt.stage.input_list import InputList
from d0ctl_wrapper.protocol.paths import AttemptFolder
from d0ctl_wrapper.protocol.text import PAUSED


class Interruptions:
    """The orders of the control host, obeyed while binaries, scripts or transfers run."""

    def __init__(
        self, folder: AttemptFolder, tree: ProcessTree, report: Reporter, input_list: InputList
    ) -> None:
        self.command = CommandFile(folder)
        self.suspension: "Suspension | None" = None
        self.is_saving = False
        """Whether the outputs of a killed attempt are being kept."""
        self.has_computed = False
        """Whether no binary is left to run: a pause would only keep the CPUs from others."""
        self.read_until = math.inf
        """When reading files must end, by the monotonic clock."""
        self._folder = folder
        self._tree = tree
        self._report = report
        self._input_list = input_list

    def pause_point(self) -> None:
        """Obey orders between two pieces of a file: answer, pause, or raise Terminated."""
        self._check()
        if self.has_computed or orders.pause_asked(self._folder) is None:
            return
        self._report.state("suspended", PAUSED + ", while its inputs or outputs are read")
        while orders.pause_asked(self._folder) is not None:
            self._tree.rest(POLL_S)
        self._report.state("running", "resumed")

    def _check(self) -> None:
        """Raise Terminated when the attempt has to end; not again while a kill keeps outputs."""
        if time.monotonic() > self.read_until:
            raise Terminated
        try:
            self._tree.check()
        except Terminated:
            kill = orders.kill_asked(self._folder)
            if not (self.is_saving and kill is not None and kill.partial):
                raise

    def begin(self, clock: Clock) -> Suspension:
        """Return how something with this clock, which runs from now on, is paused."""
        self.suspension = Suspension(self._tree, self.command, clock, self._report.state)
        return self.suspension

    def watch_script(self, clock: Clock, watchers: "List[Watcher]") -> Watch:
        """Return the watch over a hook or check, which can be paused like a binary."""
        self.begin(clock)
        return Watch(watchers, self.obey)

    def watch_transfer(self, clock: Clock, watchers: "List[Watcher]") -> Watch:
        """Return the watch over a transfer process; a pause stops that of an input at once."""
        self.begin(clock)
        return Watch(watchers, lambda: None if self.has_computed else self._pause_or_resume(0.0))

    def obey(self) -> "float | None":
        """Take inputs that were delivered, and obey the orders of the control host."""
        self._input_list.take()
        return self._pause_or_resume()

    def _pause_or_resume(self, most: float = math.inf) -> "float | None":
        """Pause or resume as ordered; the binary has at most `most` seconds to pause by itself."""
        assert self.suspension is not None
        grace = orders.pause_asked(self._folder)
        if grace is None:
            self.suspension.release("order")
        else:
            self.suspension.want("order", PAUSED, min(grace, most))
        return self.suspension.proceed()
