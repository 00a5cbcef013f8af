"""The only place that starts a program."""

import os
import signal
from typing import Dict, List, NamedTuple

DEFAULT_SIGNALS = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT)
"""What python or the relay ignores, and a program expects to find untouched."""


class Command(NamedTuple):
    """A program with all that it finds around it."""

    argv: "List[bytes]"
    environment: "Dict[bytes, bytes]"
    folder: bytes
    out: bytes
    err: bytes
    umask: int


def spawn(command: Command) -> int:
    """Start a program in a process group of its own; raise the OSError that its exec met."""
    report, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become(command, told)
    os.close(told)
    try:
        error = os.read(report, 16)
    finally:
        os.close(report)
    if error:
        os.waitpid(pid, 0)
        raise OSError(int(error), os.strerror(int(error)))
    return pid


def _become(command: Command, told: int) -> None:
    try:
        os.setpgid(0, 0)
        for number, path in ((1, command.out), (2, command.err)):
            log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(log, number)
        os.chdir(command.folder)
        os.umask(command.umask)
        for number in DEFAULT_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.execvpe(command.argv[0], command.argv, command.environment)
    except OSError as error:
        os.write(told, b"%d" % (error.errno or 0))
    finally:
        os._exit(127)
