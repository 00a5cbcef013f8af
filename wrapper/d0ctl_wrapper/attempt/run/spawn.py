"""The only place that starts a program."""

import errno
import os
import signal
from typing import Dict, List, NamedTuple

DEFAULTS = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT)
"""The signals that python or the relay ignores, and a program expects to find untouched."""

SIGNALS = (signal.SIGCHLD, signal.SIGTERM, signal.SIGUSR1)
"""What a wrapper keeps blocked and waits for; so none arrives too early or in between."""

LOG_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND


class Command(NamedTuple):
    """A program with all that it finds around it; it runs in the directory of its starter."""

    argv: "List[bytes]"
    environment: "Dict[bytes, bytes]"
    out: bytes
    err: bytes


def spawn(command: Command) -> int:
    """Start a program in a process group of its own; raise OSError if it can't be executed.

    Where python has posix_spawn it is several times as fast, as nothing of us is copied.
    """
    path = find(command.argv[0], command.environment)
    if not hasattr(os, "posix_spawn"):
        return _fork_and_execute(path, command)
    logs = [
        (os.POSIX_SPAWN_OPEN, 1, command.out, LOG_FLAGS, 0o600),
        (os.POSIX_SPAWN_OPEN, 2, command.err, LOG_FLAGS, 0o600),
    ]
    return os.posix_spawn(
        path,
        command.argv,
        command.environment,
        file_actions=logs,
        setpgroup=0,
        setsigmask=[],
        setsigdef=DEFAULTS,
    )


def find(name: bytes, environment: "Dict[bytes, bytes]") -> bytes:
    """Give the path of a program as its own PATH has it; raise OSError if there is none."""
    if b"/" in name:
        return name
    error = errno.ENOENT
    for folder in environment.get(b"PATH", os.defpath.encode()).split(b":"):
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            if os.access(path, os.X_OK):
                return path
            error = errno.EACCES
    raise OSError(error, os.strerror(error))


def _fork_and_execute(path: bytes, command: Command) -> int:
    report, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become(path, command, told)
    os.close(told)
    error = os.read(report, 16)
    os.close(report)
    if error:
        os.waitpid(pid, 0)
        raise OSError(int(error), os.strerror(int(error)))
    return pid


def _become(path: bytes, command: Command, told: int) -> None:
    try:
        os.setpgid(0, 0)
        os.dup2(os.open(command.out, LOG_FLAGS, 0o600), 1)
        os.dup2(os.open(command.err, LOG_FLAGS, 0o600), 2)
        signal.set_wakeup_fd(-1)
        for number in (*DEFAULTS, *SIGNALS):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.execve(path, command.argv, command.environment)
    except OSError as error:
        os.write(told, b"%d" % (error.errno or 0))
    finally:
        os._exit(127)
