"""Relays as child processes, and relays that are forked."""

import os
import subprocess
from subprocess import PIPE
from typing import IO, Protocol

from tests.support.forks import FORKING, Forked, Process, Request, Server
from tests.support.homes import wrapper
from tests.wrapper.pythons import archive_for


class Relay(Process, Protocol):
    """The process of a relay."""

    stdin: IO[bytes] | None
    stdout: IO[bytes] | None
    stderr: IO[bytes] | None


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


def server() -> Server:
    """Start the python that forks the relays of this test process."""
    return Server("-I", "-S", str(FORKING), str(wrapper()))


class ForkedRelay(Forked):
    """A relay that was forked."""

    def __init__(self, server: Server, environment: dict[str, str]) -> None:
        (reads, stdin), (stdout, writes), (stderr, complains) = (os.pipe() for _ in range(3))
        self.stdin: IO[bytes] | None = os.fdopen(stdin, "wb")
        self.stdout: IO[bytes] | None = os.fdopen(stdout, "rb")
        self.stderr: IO[bytes] | None = os.fdopen(stderr, "rb")
        streams = [reads, writes, complains]
        request = Request("d0ctl_wrapper.relay.main", ["relay"], environment)
        super().__init__(server, request, streams)
        for stream in streams:
            os.close(stream)
