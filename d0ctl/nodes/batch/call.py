"""Call a tool of a batch system on its login node, with a time limit."""

import math
import time
from contextlib import closing

from d0ctl.errors import D0Error, NodeUnreachable
from d0ctl.nodes.batch import slurm
from d0ctl.nodes.transports.transport import Transport

CALL_S = 60.0
"""How long a tool may take: a busy controller answers late."""

MOST_OUTPUT = 32 << 20


class ToolFailed(D0Error):
    """A tool that ended with an error: the request was not carried out."""


def call(login: Transport, command: str, stdin: bytes = b"", limit_s: float = CALL_S) -> str:
    """Return the output of a tool.

    Raises ToolFailed, and NodeUnreachable if it is unknown whether the request was carried out.
    """
    until = time.monotonic() + limit_s
    tool = command.partition(" ")[0]
    with closing(login.start(slurm.wrapped(command, math.ceil(limit_s)))) as stream:
        stream.write(stdin)
        stream.finish()
        pieces: list[bytes] = []
        while piece := stream.read(max(0.1, until - time.monotonic())):
            pieces.append(piece)
            if time.monotonic() > until or sum(map(len, pieces)) > MOST_OUTPUT:
                raise NodeUnreachable(f"`{tool}` did not end within {limit_s:g} s")
        text = b"".join(pieces).decode(errors="replace")
        output = slurm.printed(text)
        if output is None:
            said = stream.stderr().splitlines()
            if not slurm.has_failed(text):
                raise NodeUnreachable(f"`{tool}` gave no answer{f': {said[-1]}' if said else ''}")
            message = f"`{tool}` failed: {said[-1] if said else 'no message'}"
            raise NodeUnreachable(message) if slurm.LATE in message else ToolFailed(message)
    return output
