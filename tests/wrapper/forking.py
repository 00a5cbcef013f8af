"""Forks relays from one python that has imported the wrapper; it runs as `python -I -S`.

Relays run the code of the zip file, each in a process and session of its own. Only the start of
the interpreter and the imports, most of the cost of a short test, are paid once.
"""

import array
import ctypes
import json
import os
import signal
import socket
import sys
import traceback
from typing import Any, NoReturn

SET_CHILD_SUBREAPER = 36


class Forks:
    """The relays of one test process, which asks for them through a socket."""

    def __init__(self, channel: socket.socket, main: Any) -> None:
        self._channel = channel
        self._main = main
        self._relays: set[int] = set()

    def serve(self) -> None:
        """Fork a relay for each request, until the test process closes the socket."""
        ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # adopt what relays leave
        signal.signal(signal.SIGCHLD, self._reap)
        while True:
            request, rights, _, _ = self._channel.recvmsg(1 << 20, socket.CMSG_LEN(3 * 4))
            if not request:
                return
            pipes = array.array("i", rights[0][2])
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
            pid = os.fork()
            if pid == 0:
                self._become_relay(json.loads(request), list(pipes))
            self._relays.add(pid)
            self._send(pid, None)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
            for pipe in pipes:
                os.close(pipe)

    def _become_relay(self, environment: dict[str, str], pipes: list[int]) -> NoReturn:
        code: Any = 1
        try:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
            os.setsid()
            for number, pipe in enumerate(pipes):
                os.dup2(pipe, number)
            os.environ.clear()
            os.environ.update(environment)
            code = self._main()
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)

    def _reap(self, *_: object) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in self._relays:
                self._relays.remove(pid)
                self._send(pid, os.waitstatus_to_exitcode(status))

    def _send(self, pid: int, code: "int | None") -> None:
        self._channel.send(json.dumps([pid, code]).encode())


if __name__ == "__main__":
    sys.argv = [sys.argv[1], "relay"]
    sys.path.insert(0, sys.argv[0])
    from d0ctl_wrapper.relay.main import main

    Forks(socket.socket(fileno=0), main).serve()
