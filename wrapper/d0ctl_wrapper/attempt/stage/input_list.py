"""The list of inputs that a binary reads, and that grows while more are delivered.

The list is `inputs` in the attempt's folder, one name a line. `inputs.closed` beside it exists when
the list is complete; every binary with inputs gets it, so that the same program works whether its
package started early or not (D0 Job Definition, Line Record).
"""

import os
from typing import Any, Callable, Dict, List

from d0ctl_wrapper.attempt.slot import Slot
from d0ctl_wrapper.attempt.stage import inputs as staged_inputs
from d0ctl_wrapper.attempt.verdict import Failed
from d0ctl_wrapper.disk import FULL, write_all
from d0ctl_wrapper.host import input_stream
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import AttemptFolder, remove, to_path, write

POLL_S = 10.0
"""The seconds between two checks for inputs without a signal."""


class InputList:
    """The inputs of one attempt: those of its launch, and later ones."""

    def __init__(
        self,
        folder: AttemptFolder,
        launch: Launch,
        slot: Slot,
        inputs: "Dict[str, Dict[str, Any]]",
        pause_point: "Callable[[], None]",
    ) -> None:
        self.folder = folder
        self.list = folder.file(b"inputs")
        self._slot = slot
        self._is_shared = False
        """Whether the list is an empty file that other attempts may share."""
        self.is_open: bool = launch["early"]
        self.is_early: bool = launch["early"]
        self.inputs = inputs
        self._pause_point = pause_point
        self._entries: "List[Dict[str, Any]]" = []
        self.linked: "List[Dict[str, Any]]" = []
        """The inputs that were linked into the working directory after the launch."""
        self._offset = 0
        self._number = 0

    def begin(self, number: int, binary: "Dict[str, Any]") -> None:
        """Write the list of a binary that is about to start."""
        if self.is_early:
            self.take()
        self._number = number
        later = [entry["name"] for entry in self._entries if number in entry["binaries"]]
        names = [*binary["inputs"], *later]
        self._write(names)
        self._close(bool(names) and not self.is_open)

    def _write(self, names: "List[str]") -> None:
        """Write the list; one that is empty and stays so may be a link to another one."""
        if self._is_shared:
            remove(self.list)
        self._is_shared = not (names or self.is_early or os.path.lexists(self.list))
        if self._is_shared:
            self._slot.make_empty_file(self.list)
        else:
            write(self.list, _lines(names))

    def poll(self) -> float:
        """Accept delivered inputs, and return the seconds until the next check."""
        self.take()
        return POLL_S

    def take(self) -> None:
        """Link delivered inputs into the working directory, and add them to the list."""
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
            raise Failed(reason, "can't add a later input to the list: %s" % error.strerror)

    def check_closed(self) -> None:
        """Raise Failed if the binaries have not waited for all inputs."""
        if self.is_early:
            self.take()
        if self.is_open:
            detail = "the last binary ended before all inputs were delivered: it has to wait for"
            raise Failed("verification", detail + " `inputs.closed` beside its list of inputs")

    def _add(self, entries: "List[Dict[str, Any]]") -> None:
        linked = [entry for entry in entries if entry["path"] is not None]
        staged_inputs.check(linked, self._pause_point)
        for entry in linked:
            staged_inputs.link(self.folder, entry, self._pause_point)
        self.linked += linked
        self._entries += entries
        self.inputs.update((entry["name"], entry) for entry in linked)
        lines = _lines([entry["name"] for entry in entries if self._number in entry["binaries"]])
        if lines:
            file = os.open(self.list, os.O_WRONLY | os.O_APPEND)
            try:
                write_all(file, lines)
            finally:
                os.close(file)

    def _close(self, is_closed: bool) -> None:
        mark = self.list + b".closed"
        if is_closed and not os.path.lexists(mark):
            self._slot.make_empty_file(mark)
        elif is_closed:
            write(mark, b"")
        else:
            remove(mark)


def _lines(names: "List[str]") -> bytes:
    return to_path("".join(name + "\n" for name in names))
