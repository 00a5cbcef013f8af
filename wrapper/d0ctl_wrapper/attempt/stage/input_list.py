"""The only place that keeps the list of inputs that a binary reads, and lets it grow.

The list is `inputs` in the attempt's folder, one name a line. `inputs.closed` beside it says
that nothing comes any more; it is there for every binary that has inputs, so that the same
program works whether its package started early or not (D0 Job Definition, Line Record).
"""

import os
from typing import Any, Callable, Dict, List, Set

from d0ctl_wrapper.attempt.stage import inputs as stage
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.disk import FULL, write_all
from d0ctl_wrapper.host import input_stream
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import AttemptFolder, remove, to_path, write

LOOK = 10.0
"""Every so many seconds the list is looked at without a signal."""


class Arrivals:
    """The inputs of one attempt: those it was launched with, and those that come later."""

    def __init__(
        self, folder: AttemptFolder, launch: Launch, inputs: "Set[str]", heed: "Callable[[], None]"
    ) -> None:
        self.folder = folder
        self.list = folder.file(b"inputs")
        self.is_open: bool = launch["early"]
        self.is_early: bool = launch["early"]
        self.inputs = inputs
        self._heed = heed
        self._entries: "List[Dict[str, Any]]" = []
        self.brought: "List[Dict[str, Any]]" = []
        """The inputs that were put into the working directory after the launch."""
        self._offset = 0
        self._number = 0

    def begin(self, number: int, binary: "Dict[str, Any]") -> None:
        """Write the list of a binary that is about to start."""
        if self.is_early:
            self.take()
        self._number = number
        later = [entry["name"] for entry in self._entries if number in entry["binaries"]]
        names = [*binary["inputs"], *later]
        write(self.list, _lines(names))
        self._close(bool(names) and not self.is_open)

    def look(self) -> float:
        """Take what has come, and give the seconds until the next look."""
        self.take()
        return LOOK

    def take(self) -> None:
        """Link what has come to the working directory, and add it to the list."""
        if not self.is_open:
            return
        try:
            entries, self._offset = input_stream.read(self.folder, self._offset)
            self._add([entry for entry in entries if "name" in entry])
            if any("closed" in entry for entry in entries):
                self.is_open = False
                self._close(True)
        except OSError as error:
            reason = "disk-full" if error.errno in FULL else "stage-in"
            raise Failed(reason, "an input that came later can't be listed: %s" % error.strerror)

    def check_closed(self) -> None:
        """Raise Failed if binaries ended well that have not waited for all inputs."""
        if self.is_early:
            self.take()
        if self.is_open:
            detail = "the last binary ended before all inputs had come: `inputs.closed` beside"
            raise Failed("verification", detail + " its list of inputs says when they have")

    def _add(self, entries: "List[Dict[str, Any]]") -> None:
        brought = [entry for entry in entries if entry["path"] is not None]
        stage.check(brought)
        for entry in brought:
            stage.place(self.folder.work, entry, self._heed)
        self.brought += brought
        self._entries += entries
        self.inputs.update(entry["name"] for entry in brought)
        lines = _lines([e["name"] for e in entries if self._number in e["binaries"]])
        if lines:
            file = os.open(self.list, os.O_WRONLY | os.O_APPEND)
            try:
                write_all(file, lines)
            finally:
                os.close(file)

    def _close(self, is_closed: bool) -> None:
        mark = self.list + b".closed"
        if is_closed:
            write(mark, b"")
        else:
            remove(mark)


def _lines(names: "List[str]") -> bytes:
    return to_path("".join(name + "\n" for name in names))
