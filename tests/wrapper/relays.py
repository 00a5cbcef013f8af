"""Relays as child processes, and relays that are forked (see `forking`)."""

import array
import json
import os
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE
from typing import IO, Protocol

from tests.support.homes import wrapper
from tests.support.waiting import Pid, descendants
from tests.wrapper.pythons import archive_for

FORKING = Path(__file__).with_name("forking.py")


class Relay(Protocol):
    """The process of a relay."""

    pid: int
    stdin: IO[bytes] | None
    stdout: IO[bytes] | None
    stderr: IO[bytes] | None

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end, and return the exit code."""

    def kill(self) -> None:
        """Kill it."""


def start(python: str, environment: dict[str, str]) -> Relay:
    """Start a relay as a control host does, under any python."""
    return subprocess.Popen(
        [python, "-I", "-S", str(archive_for(python)), "relay"],
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
        env=environment,
        start_new_session=True,
    )


class Forked:
    """A relay that was forked."""

    def __init__(self, server: "Server", environment: dict[str, str]) -> None:
        self._server = server
        (reads, stdin), (stdout, writes), (stderr, complains) = (os.pipe() for _ in range(3))
        self.stdin: IO[bytes] | None = os.fdopen(stdin, "wb")
        self.stdout: IO[bytes] | None = os.fdopen(stdout, "rb")
        self.stderr: IO[bytes] | None = os.fdopen(stderr, "rb")
        self.pid = server.fork(environment, [reads, writes, complains])
        for pipe in (reads, writes, complains):
            os.close(pipe)

    def poll(self) -> int | None:
        """Return the exit code, or None while it runs."""
        return self._server.code(self.pid, 0.0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end, and return the exit code."""
        code = self._server.code(self.pid, timeout)
        if code is None:
            raise subprocess.TimeoutExpired("relay", timeout or 0.0)
        return code

    def kill(self) -> None:
        """Kill it."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


class Server:
    """The python that forks the relays of this test process."""

    def __init__(self) -> None:
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._codes: dict[int, int] = {}
        words = [sys.executable, "-I", "-S", str(FORKING), str(wrapper())]
        with theirs:
            self._process = subprocess.Popen(words, stdin=theirs.fileno(), start_new_session=True)

    def fork(self, environment: dict[str, str], pipes: list[int]) -> int:
        """Fork a relay with these standard streams, and return its process id."""
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", pipes))]
        self._channel.sendmsg([json.dumps(environment).encode()], rights)
        while (report := self._report())[1] is not None:
            self._codes[report[0]] = report[1]
        self._codes.pop(report[0], None)
        return report[0]

    def code(self, pid: int, timeout: float | None) -> int | None:
        """Return the exit code of a relay, or None if it does not end within the timeout."""
        while pid not in self._codes:
            if not select.select([self._channel], [], [], timeout)[0]:
                return None
            ended, code = self._report()
            assert code is not None
            self._codes[ended] = code
        return self._codes[pid]

    def processes(self) -> list[Pid]:
        """Return the relays, and all that they have started and left."""
        return descendants(self._process.pid)

    def close(self) -> None:
        """End the server, whose relays have ended."""
        self._channel.close()
        self._process.wait()

    def _report(self) -> tuple[int, int | None]:
        pid, code = json.loads(self._channel.recv(100))
        return pid, code
