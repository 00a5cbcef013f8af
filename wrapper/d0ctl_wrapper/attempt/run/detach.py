"""The only place where a process just forked by the relay becomes a wrapper of its own."""

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
"""What the exit code of a wrapper tells its relay; after the last two nothing is left of it."""

DESCRIPTORS = 64
"""More descriptors than a relay ever has, as it closes those that it inherits."""


class Setting(NamedTuple):
    """What all attempts under one relay have in common."""

    paths: NodePaths
    boot_id: str
    environment: "Dict[bytes, bytes]"
    umask: int


def fork(setting: Setting, launch: Launch, run: "Callable[[Setting, Launch], None]") -> int:
    """Fork the wrapper of `launch`, which calls `run`; give its pid.

    Its signals are blocked before it exists and it waits for them later. So none gets lost,
    and the relay's handlers, which it still has, are never called.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        pid = os.fork()
        if pid == 0:
            _become(setting, launch, run)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    return pid


def _become(setting: Setting, launch: Launch, run: "Callable[[Setting, Launch], None]") -> None:
    code = EXIT_CRASHED
    try:
        gc.disable()
        os.setsid()
        code = _claim(setting, launch)
        if code == EXIT_ENDED:
            code = EXIT_CRASHED
            _leave_relay()
            run(setting, launch)
            code = EXIT_ENDED
    except BaseException:
        _leave_traceback(setting.paths.attempt(launch["attempt"]).file(b"crash"))
    finally:
        os._exit(code)


def _claim(setting: Setting, launch: Launch) -> int:
    """Record this process as the wrapper.

    It still shares the lock of the relay, so a new relay does not look before this is done.
    """
    pid = os.getpid()
    myself = process.look(pid)
    assert myself is not None
    folder = setting.paths.attempt(launch["attempt"])
    record = records.Record(pid, myself.started, setting.boot_id, launch["cpus"])
    try:
        records.write_record(folder, record)
    except OSError as error:
        remove(folder.path)
        return EXIT_DISK_FULL if error.errno in FULL else EXIT_LAUNCH_FAILED
    return EXIT_ENDED


def close_inherited() -> None:
    """Close what a process was started with beside its three streams."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            try:
                os.close(int(name))
            except OSError:
                pass


def _leave_relay() -> None:
    """Give up all that came from the relay: its lock, its stream, its pipes."""
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
