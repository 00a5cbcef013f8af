"""The main function of a relay: greet the control host, take over the BASE, serve."""

import os
import select
import signal
import sys
import time
from typing import Any, Dict, List

from d0ctl_wrapper.attempt.run import detach
from d0ctl_wrapper.host import attempt_records
from d0ctl_wrapper.protocol import requests
from d0ctl_wrapper.protocol.frames import LISTED, Stream
from d0ctl_wrapper.protocol.paths import NodePaths, to_path
from d0ctl_wrapper.relay import facts, lock
from d0ctl_wrapper.relay.event_loop import Loop
from d0ctl_wrapper.relay.read_only_service import ReadOnlyService

Frame = Dict[str, Any]

HELLO_TIMEOUT_S = 120.0
"""The seconds that the control host has to send its hello."""


def main() -> int:
    """Serve one connection, and return the exit code."""
    umask = os.umask(0o077)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    detach.close_inherited()
    stream = Stream(0, 1)
    first, *rest = _first_lines(stream)
    try:
        hello = requests.hello(first)
    except ValueError as error:
        sys.stderr.write("d0ctl relay: the hello %s\n" % error)
        return 2
    stream.send_line("d0ctl " + hello["nonce"])
    try:
        _serve(stream, hello, umask, rest)
    except (lock.DrivenByOther, lock.Superseded) as other:
        kind = "superseded" if isinstance(other, lock.Superseded) else "driven"
        stream.send({"kind": kind, "driver": str(other)})
        stream.drain(5.0)
        return 1
    except (OSError, lock.Busy) as error:
        stream.send({"kind": "fault", "message": "the relay cannot continue: %s" % error})
        stream.drain(5.0)
        return 1
    return 0


def _first_lines(stream: Stream) -> "List[bytes]":
    """Wait for the hello; return it and the lines after it, or one empty line."""
    poller = select.poll()
    poller.register(stream.source, select.POLLIN)
    until = time.monotonic() + HELLO_TIMEOUT_S
    while not stream.is_closed and time.monotonic() < until:
        poller.poll(1000)
        lines = stream.receive()
        if lines:
            return lines
    return [b""]


def _serve(stream: Stream, hello: Frame, umask: int, lines: "List[bytes]") -> None:
    base = os.path.join(to_path(os.path.expanduser("~")), to_path(hello["base"]))
    spool = hello["spool"]
    paths = NodePaths(base, None if spool is None else to_path(spool))
    loop = Loop(stream, hello["silence"])
    if hello["read_only"]:
        _greet(stream, paths, [], [])
        service = ReadOnlyService(paths, stream)
        loop.serve(lines, service.obey, service.status_requests.work)
    else:
        # The code of wrappers is most of the start, for which `logs` and `peek` would wait.
        from d0ctl_wrapper.relay.periodic import Periodic

        cpus = hello["cpus"] or facts.cpus()
        gpus = facts.gpus(hello["gpus"])
        periodic = Periodic(
            loop,
            paths,
            cpus,
            gpus,
            umask,
            hello["keep_logs"],
            hello["elsewhere"],
            hello["driver"],
            hello["restored"],
        )
        facts.mark_folder(paths.base)
        _greet(stream, paths, periodic.adopt(), attempt_records.cached(paths))
        loop.serve(lines, periodic.service.obey, periodic.work)


def _greet(stream: Stream, paths: NodePaths, states: "List[Frame]", cached: "List[int]") -> None:
    found = facts.gather(paths.base)
    first, rest = states[:LISTED], states[LISTED:]
    hello = {"kind": "hello", "facts": found, "attempts": first, "more": bool(rest)}
    stream.send({**hello, "cached": cached[:LISTED]})
    if rest:
        stream.send_list({"kind": "listed"}, "attempts", rest, LISTED)
