"""The only place for the command file, by which a binary is asked to pause or to end by itself.

InGrid, point 2 of the requests to binaries: the binary looks at it now and then, does as it
says, and appends a line with the time; it goes on when the file has gone.
"""

import os

from d0ctl_wrapper.protocol.paths import AttemptFolder, read, remove, write
from d0ctl_wrapper.protocol.text import one_line

PAUSE, TERMINATE = "pause", "terminate"


class CommandFile:
    """The command file of one attempt; its path is `D0CTL_COMMAND` of the binaries."""

    def __init__(self, folder: AttemptFolder) -> None:
        self.path = folder.file(b"command")

    def give(self, order: str) -> None:
        """Ask for something, in place of what was asked before; a full disk asks for nothing."""
        aside = self.path + b".aside"
        try:
            write(aside, order.encode("ascii") + b"\n")
            os.rename(aside, self.path)
        except OSError:
            pass

    def answer(self) -> str:
        """Give the line of compliance that a binary appended; empty when it has not."""
        try:
            lines = read(self.path).decode("utf-8", "replace").split("\n")
        except OSError:
            return ""
        return next((one_line(line) for line in lines[1:] if line.strip()), "")

    def take_back(self) -> None:
        """Ask for nothing any more."""
        try:
            remove(self.path)
        except OSError:
            pass
