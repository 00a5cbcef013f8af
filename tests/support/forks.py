"""Processes that are forked instead of started, which saves the start of a python (`forking`)."""

import array
import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from tests.support.waiting import Pid, descendants

FORKING = Path(__file__).with_name("forking.py")

AT_START = ("LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONPATH", "KRB5CCNAME")
"""Variables that a process, or who looks at it, heeds only as they were when it was started."""

_AT_START = {name: os.environ.get(name) for name in AT_START}


class Process(Protocol):
    """A process that was started or forked."""

    @property
    def pid(self) -> int:
        """Its number."""

    @property
    def args(self) -> Any:
        """Its command line."""

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end, and return the exit code."""

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it still runs."""

    def kill(self) -> None:
        """Kill it."""


class Request(NamedTuple):
    """What to run: `main` of a module, with these words as its command line."""

    module: str
    words: Sequence[str]
    environment: Mapping[str, str]
    folder: str = "/"


class Forked:
    """A process that was forked, with these standard streams."""

    def __init__(self, server: "Server", request: Request, streams: Sequence[int]) -> None:
        self._server = server
        self.args = request.words
        self.pid = server.fork(request, streams)

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        return self._server.code(self.pid, 0.0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end, and return the exit code."""
        code = self._server.code(self.pid, timeout)
        if code is None:
            raise subprocess.TimeoutExpired("forked", timeout or 0.0)
        return code

    def send_signal(self, number: int) -> None:
        """Send it a signal, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill it."""
        self.send_signal(signal.SIGKILL)


class Server:
    """A python that forks processes of this test process; `words` start it."""

    def __init__(self, *words: str) -> None:
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._codes: dict[int, int] = {}
        command = [sys.executable, *words]
        with theirs:
            self._process = subprocess.Popen(command, stdin=theirs.fileno(), start_new_session=True)

    def fork(self, request: Request, streams: Sequence[int]) -> int:
        """Fork a process with these standard streams, and return its process id."""
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", streams))]
        self._channel.sendmsg([json.dumps(request._asdict()).encode()], rights)
        while (report := self._report())[1] is not None:
            self._codes[report[0]] = report[1]
        self._codes.pop(report[0], None)
        return report[0]

    def code(self, pid: int, timeout: float | None) -> int | None:
        """Return the exit code of a process, or None if it does not end within the timeout."""
        while pid not in self._codes:
            if not select.select([self._channel], [], [], timeout)[0]:
                return None
            ended, code = self._report()
            assert code is not None
            self._codes[ended] = code
        return self._codes[pid]

    def processes(self) -> list[Pid]:
        """Return the processes, and all that they have started and left."""
        return descendants(self._process.pid)

    def close(self) -> None:
        """End the server, whose processes have ended."""
        self._channel.close()
        self._process.wait()

    def _report(self) -> tuple[int, int | None]:
        pid, code = json.loads(self._channel.recv(100))
        return pid, code


@cache
def _drivers() -> Server:
    """The python that forks daemons and drivers, started once in a test process."""
    server = Server(str(FORKING))
    atexit.register(server.close)
    return server


def start(module: str, words: Sequence[str], environment: Mapping[str, str], log: int) -> Process:
    """Fork a process that drives packages, in a session of its own; it writes to `log`.

    It is started where a fork would not heed the variables.
    """
    if any(environment.get(name) != _AT_START[name] for name in AT_START):
        return subprocess.Popen(
            [sys.executable, "-m", module, *words],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd="/",
        )
    with open(os.devnull) as nothing:  # noqa: PTH123
        streams = [nothing.fileno(), log, log]
        return Forked(_drivers(), Request(module, words, dict(environment)), streams)
