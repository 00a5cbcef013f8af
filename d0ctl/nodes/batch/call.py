"""Call a tool of a batch system on its login node, with a time limit."""

import math
import time
from collections.abc import Sequence
from contextlib import closing, suppress

from d0ctl.errors import D0Error, NodeUnreachable
from d0ctl.nodes.transports.transport import Transport

CALL_S = 60.0
"""How long a tool may take: a busy controller answers late."""

MOST_OUTPUT = 32 << 20

MARGIN_S = 7.0
"""How much longer to wait for the end of a tool that its node ends after the limit."""

LATE = ("timed out", "Failed to commit")
"""What tools print if the answer came too late; the request may still be carried out."""

ERROR, MOST_ERRORS = ": error: ", 3
"""How errors of Slurm's tools begin after the name of the tool, and how many are shown."""

BEGIN, END, FAILED = "d0ctl-begin", "d0ctl-end", "d0ctl-failed"


class ToolFailed(D0Error):
    """A tool that ended with an error: the request was not carried out."""


def call(login: Transport, command: str, stdin: bytes = b"", limit_s: float = CALL_S) -> str:
    """Return the output of a tool.

    Raises ToolFailed, and NodeUnreachable if it is unknown whether the request was carried out.
    """
    began = time.monotonic()
    until = began + limit_s + MARGIN_S
    tool = command.partition(" ")[0]
    late = f"`{tool}` did not end within {limit_s:g} s"
    with closing(login.start(wrapped(command, math.ceil(limit_s)))) as stream:
        # A tool may refuse the request before it has read all of its stdin.
        with suppress(NodeUnreachable):
            stream.write(stdin)
            stream.finish()
        pieces: list[bytes] = []
        while piece := stream.read(max(0.1, until - time.monotonic())):
            pieces.append(piece)
            if time.monotonic() > until or sum(map(len, pieces)) > MOST_OUTPUT:
                raise NodeUnreachable(late)
        text = b"".join(pieces).decode(errors="replace")
        output = printed(text)
        if output is None:
            said = stream.stderr().splitlines()
            if time.monotonic() - began >= limit_s:
                raise NodeUnreachable(late)
            if not has_failed(text):
                raise NodeUnreachable(f"`{tool}` gave no answer{f': {said[-1]}' if said else ''}")
            message = f"`{tool}` failed: {_error(said, tool)}"
            is_late = any(word in line for line in said for word in LATE)
            raise NodeUnreachable(message) if is_late else ToolFailed(message)
    return output


def _error(said: Sequence[str], tool: str) -> str:
    """Return the errors of a tool, or its last line; sbatch names a limit before the last line."""
    errors = [line.partition(ERROR)[2] for line in said if line.startswith(f"{tool}{ERROR}")]
    if len(errors) > 1:
        return "; ".join(errors[-MOST_ERRORS:])
    return said[-1] if said else "no message"


def wrapped(command: str, limit_s: int) -> str:
    """Return a command with marks around its output; the second mark tells whether it succeeded.

    The login node ends it after the limit, so that hanging tools do not pile up there.
    """
    limited = f"timeout -k 5 {limit_s} {command}"
    return f"exec sh -c 'echo {BEGIN}; if {limited}; then echo {END}; else echo {FAILED}; fi'"


def printed(text: str) -> str | None:
    """Return the output of a wrapped command; None if it did not succeed."""
    _, begun, rest = text.partition(f"{BEGIN}\n")
    output, ended, _ = rest.rpartition(f"{END}\n")
    return output if begun and ended else None


def has_failed(text: str) -> bool:
    """Return whether a wrapped command itself ended with an error, not just the connection."""
    return text.endswith(f"{FAILED}\n")
