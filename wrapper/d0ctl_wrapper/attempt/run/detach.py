"""Detaching a forked process from the relay, as a wrapper of its own."""

import gc
import os
import signal
import traceback
from typing import Callable, Dict, NamedTuple

from d0ctl_wrapper.attempt.run.spawn import SIGNALS
from d0ctl_wrapper.disk import FULL
from d0ctl_wrapper.host import process, records
from d0ctl_wrapper.protocol.launch import Launch
from d0ctl_wrapper.protocol.paths import NodePaths, remove

EXIT_ENDED, EXIT_CRASHED, EXIT_DISK_FULL, EXIT_LAUNCH_FAILED = 0, 70, 71, 72
"""The exit codes of a wrapper; after the last two it leaves no folder."""

DESCRIPTORS = 64
"""More descriptors than a relay ever has."""


class RelayContext(NamedTuple):
    """The facts that all attempts under one relay share."""

    paths: NodePaths
    boot_id: str
    environment: "Dict[bytes, bytes]"
    umask: int


def fork(
    context: RelayContext, launch: Launch, run: "Callable[[RelayContext, Launch], None]"
) -> int:
    """Fork the wrapper of `launch`, which calls `run`; return its pid.

    Signals are blocked before the fork, and the wrapper waits for them later. So none is lost,
    and the relay's handlers, which the child inherits, are never called.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        pid = os.fork()
        if pid == 0:
            _become(context, launch, run)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    return pid


def _become(
    context: RelayContext, launch: Launch, run: "Callable[[RelayContext, Launch], None]"
) -> None:
    code = EXIT_CRASHED
    try:
        gc.disable()
        os.setsid()
        code = _claim(context, launch)
        if code == EXIT_ENDED:
            code = EXIT_CRASHED
            _leave_relay()
            run(context, launch)
            code = EXIT_ENDED
    except BaseException:
        _leave_traceback(context.paths.attempt(launch["attempt"]).file(b"crash"))
    finally:
        os._exit(code)


def _claim(context: RelayContext, launch: Launch) -> int:
    """Record this process as the wrapper.

    It still shares the lock of the relay, so a new relay starts only after this.
    """
    pid = os.getpid()
    myself = process.inspect(pid)
    assert myself is not None
    folder = context.paths.attempt(launch["attempt"])
    record = records.Record(pid, myself.started, context.boot_id, launch["cpus"])
    try:
        records.write_record(folder, record)
    except OSError as error:
        remove(folder.path)
        return EXIT_DISK_FULL if error.errno in FULL else EXIT_LAUNCH_FAILED
    return EXIT_ENDED


def close_inherited() -> None:
    """Close all inherited descriptors except the three standard streams."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            try:
                os.close(int(name))
            except OSError:
                pass


def _leave_relay() -> None:
    """Close all that came from the relay: its lock, its stream, its pipes."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    os.closerange(3, DESCRIPTORS)


def _leave_traceback(path: bytes) -> None:
    try:
        with open(path, "w") as file:
            traceback.print_exc(file=file)
    except OSError:
        pass
