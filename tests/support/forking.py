"""Forks processes from one python that has imported the code.

It runs relays as `python -I -S forking.py ARCHIVE`, and d0ctl as `python forking.py`. Each process
runs the code that it would otherwise import, in a session of its own. Only the start of the
interpreter and the imports, most of the cost of a short test, are paid once.
"""

import array
import ctypes
import gc
import json
import os
import select
import signal
import socket
import sys
import threading
import time
import traceback
from importlib import import_module
from typing import Any, NoReturn

SET_CHILD_SUBREAPER = 36


class Forks:
    """The processes of one test process, which asks for them through a socket."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._processes: set[int] = set()

    def serve(self) -> None:
        """Fork a process for each request, until the test process closes the socket."""
        ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # adopt what processes leave
        signal.signal(signal.SIGCHLD, self._reap)
        # A signal just before a call that blocks does not end it: the handler would not run.
        woken, wakes = socket.socketpair()
        woken.setblocking(False)
        wakes.setblocking(False)
        signal.set_wakeup_fd(wakes.fileno(), warn_on_full_buffer=False)
        gc.freeze()
        while True:
            ready, _, _ = select.select([self._channel, woken], [], [])
            if woken in ready:
                woken.recv(4096)
            if self._channel not in ready:
                continue
            try:
                request, rights, _, _ = self._channel.recvmsg(1 << 20, socket.CMSG_LEN(3 * 4))
            except ConnectionResetError:  # it closed the socket with answers unread
                return
            if not request:
                return
            streams = array.array("i", rights[0][2])
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
            pid = os.fork()
            if pid == 0:
                become(json.loads(request), list(streams))
            self._processes.add(pid)
            self._send(pid, None)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
            for stream in streams:
                os.close(stream)

    def _reap(self, *_: object) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in self._processes:
                self._processes.remove(pid)
                self._send(pid, os.waitstatus_to_exitcode(status))

    def _send(self, pid: int, code: "int | None") -> None:
        self._channel.send(json.dumps([pid, code]).encode())


def become(request: "dict[str, Any]", streams: "list[int]") -> NoReturn:
    """Be the process that was asked for, from its standard streams to its exit code."""
    code: Any = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        os.setsid()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.environ.clear()
        os.environ.update(request["environment"])
        os.chdir(request["folder"])
        time.tzset()
        sys.argv[1:] = request["words"]
        code = import_module(request["module"]).main() or 0
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        traceback.print_exc()
    finally:
        for thread in threading.enumerate():
            if not thread.daemon and thread is not threading.current_thread():
                thread.join()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    sys.path.pop(0)
    if sys.argv[1:]:
        sys.argv.pop(0)
        sys.path.insert(0, sys.argv[0])
        import_module("d0ctl_wrapper.relay.main")
    else:
        import_module("tests.support.driving")
    Forks(socket.socket(fileno=0)).serve()
