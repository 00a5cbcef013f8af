"""Starting programs."""

import errno
import os
import signal
from typing import Dict, List, NamedTuple

DEFAULTS = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)
"""Signals that get their default action in a program.

Python ignores the first two and the relay the third. `nohup` and a shell that starts d0ctl in the
background ignore the last three.
"""

SIGNALS = (signal.SIGCHLD, signal.SIGTERM, signal.SIGUSR1)
"""Signals that a wrapper blocks and waits for, so that none is missed."""

LOG_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND


class Command(NamedTuple):
    """A program with its environment and logs; it runs in the current directory."""

    argv: "List[bytes]"
    environment: "Dict[bytes, bytes]"
    out: bytes
    err: bytes
    stdin: "bytes | None" = None
    """The file that is its standard input, which is empty without one."""


def spawn(command: Command) -> int:
    """Start a program in a process group of its own; raise OSError if it can't be executed.

    posix_spawn (Python 3.8) is several times as fast as fork, which copies page tables.
    """
    path = find(command.argv[0], command.environment)
    if not hasattr(os, "posix_spawn"):
        return _fork_and_execute(path, command)
    files = [
        (os.POSIX_SPAWN_OPEN, 1, command.out, LOG_FLAGS, 0o600),
        (os.POSIX_SPAWN_OPEN, 2, command.err, LOG_FLAGS, 0o600),
    ]
    if command.stdin is not None:
        files.append((os.POSIX_SPAWN_OPEN, 0, command.stdin, os.O_RDONLY, 0))
    return os.posix_spawn(
        path,
        command.argv,
        command.environment,
        file_actions=files,
        setpgroup=0,
        setsigmask=[],
        setsigdef=DEFAULTS,
    )


def be_nice(group: int, by: int) -> None:
    """Lower the priority of a program and its processes below that of the wrapper."""
    try:
        os.setpriority(os.PRIO_PGRP, group, min(19, os.getpriority(os.PRIO_PROCESS, 0) + int(by)))
    except OSError:
        pass


def find(name: bytes, environment: "Dict[bytes, bytes]") -> bytes:
    """Return the path of a program by the PATH of its environment, or raise OSError."""
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
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        _execute_child(path, command, writer)
    os.close(writer)
    error = os.read(reader, 16)
    os.close(reader)
    if error:
        os.waitpid(pid, 0)
        raise OSError(int(error), os.strerror(int(error)))
    return pid


def _execute_child(path: bytes, command: Command, writer: int) -> None:
    try:
        os.setpgid(0, 0)
        if command.stdin is not None:
            os.dup2(os.open(command.stdin, os.O_RDONLY), 0)
        os.dup2(os.open(command.out, LOG_FLAGS, 0o600), 1)
        os.dup2(os.open(command.err, LOG_FLAGS, 0o600), 2)
        signal.set_wakeup_fd(-1)
        for number in (*DEFAULTS, *SIGNALS):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.execve(path, command.argv, command.environment)
    except OSError as error:
        os.write(writer, b"%d" % (error.errno or 0))
    finally:
        os._exit(127)
