"""Detaching a forked process from the relay, as a wrapper of its own."""

import gc
import os
import signal
from typing import Callable, Dict, NamedTuple

from d0ctl_wrapper.attempt.run.spawn import SIGNALS
from d0ctl_wrapper.protocol.paths import NodePaths

EXIT_ENDED, EXIT_CRASHED = 0, 70
"""The exit codes of a wrapper."""


class RelayContext(NamedTuple):
    """The facts that all attempts under one relay share."""

    paths: NodePaths
    boot_id: str
    environment: "Dict[bytes, bytes]"
    umask: int


def fork(channel: int, serve: "Callable[[], None]") -> int:
    """Fork a wrapper, which keeps the descriptor `channel` and calls `serve`; return its pid.

    Signals are blocked before the fork, and the wrapper waits for them later. So none is lost,
    and the relay's handlers, which the child inherits, are never called.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        pid = os.fork()
        if pid == 0:
            _execute_child(channel, serve)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    return pid


def _execute_child(channel: int, serve: "Callable[[], None]") -> None:
    code = EXIT_CRASHED
    try:
        gc.disable()
        os.setsid()
        _leave_relay(channel)
        serve()
        code = EXIT_ENDED
    finally:
        os._exit(code)


def close_inherited(descriptor: int = -1) -> None:
    """Close all inherited descriptors except the three standard streams, and one to keep."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) != descriptor:
            try:
                os.close(int(name))
            except OSError:
                pass


def _leave_relay(channel: int) -> None:
    """Close all that came from the relay: its lock, its stream, its pipes, other wrappers."""
    signal.set_wakeup_fd(-1)
    leave_streams()
    close_inherited(channel)
    os.chdir("/")


def leave_streams() -> None:
    """Replace the standard streams by the empty device."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    if null > 2:
        os.close(null)
