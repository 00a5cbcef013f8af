"""The command file, which asks a binary to pause or end by itself.

InGrid, point 2 of the requests to binaries: the binary reads it now and then, obeys, and appends a
line with the time; it continues when the file is removed.
"""

import os

from d0ctl_wrapper.protocol.paths import AttemptFolder, read, remove
from d0ctl_wrapper.protocol.paths import write as write_file
from d0ctl_wrapper.protocol.text import one_line

PAUSE, TERMINATE = "pause", "terminate"


class CommandFile:
    """The command file of one attempt; its path is `D0CTL_COMMAND` of the binaries."""

    def __init__(self, folder: AttemptFolder) -> None:
        self.path = folder.file(b"command")

    def write(self, command: str) -> None:
        """Write a command in place of the last one; a full disk is ignored."""
        aside = self.path + b".aside"
        try:
            write_file(aside, command.encode("ascii") + b"\n")
            os.rename(aside, self.path)
        except OSError:
            pass

    def answer(self) -> str:
        """Return the line that a binary appended as its answer; empty if there is none."""
        try:
            lines = read(self.path).decode("utf-8", "replace").split("\n")
        except OSError:
            return ""
        return next((one_line(line) for line in lines[1:] if line.strip()), "")

    def clear(self) -> None:
        """Remove the command."""
        try:
            remove(self.path)
        except OSError:
            pass
