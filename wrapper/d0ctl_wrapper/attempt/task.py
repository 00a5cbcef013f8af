"""A job of a batch system that runs one attempt, on any machine that shares the BASE of its relay.

Signals don't reach it from the relay, so from time to time it looks into the folder of the attempt,
and signals itself if there are new orders.
"""

import os
import signal
import sys
import time
from typing import Any, Dict, Optional, Tuple

from d0ctl_wrapper.attempt import orders
from d0ctl_wrapper.attempt.guards.cpu_request import GRANT
from d0ctl_wrapper.attempt.run import detach, environment
from d0ctl_wrapper.attempt.run.detach import EXIT_CRASHED, EXIT_ENDED, RelayContext
from d0ctl_wrapper.attempt.run.spawn import SIGNALS
from d0ctl_wrapper.attempt.slot import Slot
from d0ctl_wrapper.attempt.wrapper import Wrapper
from d0ctl_wrapper.bundle import bundle_path
from d0ctl_wrapper.host import attempt_records
from d0ctl_wrapper.host.attempt_records import CALL, CLAIMED
from d0ctl_wrapper.host.input_stream import STREAM
from d0ctl_wrapper.protocol.checks import json_text
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.lease import ELSEWHERE
from d0ctl_wrapper.protocol.paths import AttemptFolder, NodePaths, to_path

LOOK_S = 2.0
"""The seconds between two looks at the folder for orders."""

LAUNCH_S = 60.0
"""The seconds that a launch may come later than its job."""

UNKNOWN_S, UNKNOWN_SHARE = 60.0, 0.1
"""The end of the time of a job, at most this part of it, in which nothing but its end runs."""

WATCHED = (orders.KILL, orders.PAUSE, GRANT, STREAM, CALL)

Seen = Dict[bytes, Tuple[int, int]]


def main() -> None:
    """Run the attempt that the command line names, with the time of its job, and exit.

    The end of an interpreter would take as long as its start. The first job of a python makes the
    bundle for those after it, when its attempt has ended.
    """
    archive, base, attempt, seconds = sys.argv[1:]
    code = EXIT_CRASHED
    try:
        _run(base, int(attempt), float(seconds))
        code = EXIT_ENDED
        if not os.path.exists(bundle_path.of(archive)):
            from d0ctl_wrapper.bundle.bundle_maker import make  # late: few jobs need it

            make(archive)
    finally:
        os._exit(code)


def _run(base: str, attempt: int, seconds: float) -> None:
    umask = os.umask(0o077)
    folder = NodePaths(to_path(base)).attempt(attempt)
    launch = _launch(folder)
    if launch is None:
        return
    limit = seconds - min(UNKNOWN_S, UNKNOWN_SHARE * seconds)
    asked = launch["guards"]["wall_time"]
    launch["guards"]["wall_time"] = limit if asked is None else min(asked, limit)
    context = RelayContext(folder.node, ELSEWHERE, environment.inherited(), umask)
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    detach.leave_streams()
    _watch(folder)
    _serve(context, launch)


def _launch(folder: AttemptFolder) -> "Optional[Launch]":
    """Claim the launch of an attempt; None if it was withdrawn, or another job has it."""
    until = time.monotonic() + LAUNCH_S
    while True:
        try:
            names = os.listdir(folder.path)  # lets a network file system look at its server
        except FileNotFoundError:
            names = []
        if attempt_records.claim(folder):
            break
        if CLAIMED in names or time.monotonic() > until:
            return None
        time.sleep(1.0)
    with open(folder.file(CLAIMED), "rb", buffering=0) as file:
        launch: "Dict[str, Any]" = json_text.decode_own(file.read())
    return launch


def _watch(folder: AttemptFolder) -> None:
    """Look for orders now and every few seconds; the handler of the timer interrupts any wait."""
    seen: Seen = {}

    def follow_order(number: int, frame: Any) -> None:
        nonlocal seen
        seen = _follow_order(folder, seen)

    follow_order(0, None)
    signal.signal(signal.SIGALRM, follow_order)
    signal.setitimer(signal.ITIMER_REAL, LOOK_S, LOOK_S)


def _serve(context: RelayContext, launch: Launch) -> None:
    slot = Slot(context.paths)
    try:
        wrapper = Wrapper(context, launch, lambda name, text: None, slot)
        wrapper.run()
        wrapper.remove_leftovers()
    finally:
        slot.close()


def _follow_order(folder: AttemptFolder, before: Seen) -> Seen:
    """Signal this process if an order has come since; return what is there."""
    seen: Seen = {}
    try:
        there = set(os.listdir(folder.path))
    except OSError:
        return before
    for name in WATCHED:
        if name in there:
            try:
                status = os.stat(folder.file(name))
            except OSError:
                continue
            seen[name] = (status.st_mtime_ns, status.st_size)
    if seen != before:
        is_kill = seen.get(orders.KILL) != before.get(orders.KILL)
        os.kill(os.getpid(), signal.SIGTERM if is_kill else signal.SIGUSR1)
    return seen
