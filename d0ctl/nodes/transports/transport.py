"""A transport to a node: one two-way stream, and copying files (InGrid, Communication Methods)."""

import re
from pathlib import Path
from typing import Protocol

from d0ctl.errors import D0Error, NotFound
from d0ctl.model import Address
from d0ctl.nodes.transports.download import Limits

__all__ = [
    "CONNECT_TIMEOUT_S", "IO_TIMEOUT_S", "PATH_HINT", "REFUSED", "Address", "Stream", "Transport",
    "refusal",
]  # fmt: skip

CONNECT_TIMEOUT_S = 20.0
"""How long connecting to a node may take, with key exchange and login."""

IO_TIMEOUT_S = 60.0
"""How long a read, write or file operation may stall before the node counts as down."""


SILENT_HINT = (
    "if it can be reached, check that no start-up file of the account there, such as .bashrc, "
    "reads from stdin or asks a question"
)
"""Possible problems of a node that accepts the login and then sends nothing."""


REFUSED = "can't copy a file: "
"""How the error of a command that failed on a node that is up begins."""

PATH_HINT = "check the PATH that a start-up file of the account there, such as .bashrc, sets"

_MISSING_PROGRAM = re.compile(r"(?i)\bnot found\b|\bunknown command\b")
"""What shells say of a program that is not on the PATH."""


def refusal(said: str) -> D0Error:
    """Return the error of a command that failed on a node that is up, by its stderr."""
    reason = said.splitlines()[-1] if said else "the command printed nothing"
    hint = PATH_HINT if _MISSING_PROGRAM.search(reason) else None
    return (NotFound if "No such file" in reason else D0Error)(f"{REFUSED}{reason}", hint=hint)


class Stream(Protocol):
    """The two-way byte stream of one remote process."""

    def read(self, limit: float | None = None) -> bytes:
        """Wait for bytes and return them; empty if the other side has ended.

        Raises NodeUnreachable if the connection breaks, or nothing arrives for `limit`
        seconds.
        """

    def write(self, data: bytes) -> None:
        """Send all of `data`, or raise NodeUnreachable if it can't be sent within the time-out."""

    def finish(self) -> None:
        """Close the process's stdin, and continue reading."""

    def stderr(self) -> str:
        """Return the last kilobyte of the remote stderr, for messages to people."""

    def close(self) -> None:
        """End the stream; the remote process sees its stdin close. Safe to call from any thread."""


class Transport(Protocol):
    """An open connection to one node. Every operation has a time-out and raises NodeUnreachable."""

    def home(self) -> str:
        """Return the absolute home directory there."""

    def start(self, command: str) -> Stream:
        """Start `command`, which consists of plain words, through the login shell."""

    def put(self, source: Path, target: str) -> None:
        """Copy a file to the absolute path `target`, making its folders; not atomic."""

    def get(self, source: str, target: Path, limits: Limits) -> None:
        """Copy the file at the absolute path `source` to `target` here; not atomic.

        Raises Oversized and NoSpace as soon as it exceeds the limits.
        """

    def close(self) -> None:
        """Close the connection; streams end."""
