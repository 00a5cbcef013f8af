"""The host of a pilot, which runs in an allocation of a batch system and starts commands there.

A step of the batch system kills its processes when it ends. So a step only hands over its stdin,
stdout and stderr and a command, and this process starts it: relays and wrappers are its children.

The batch script contains this text: it imports nothing of d0ctl, and runs on Python 3.6.
"""

import array
import ctypes
import json
import os
import select
import signal
import socket
import struct
import time
from typing import Dict, List, Tuple

ABANDONED_S = 1800.0
"""How long a pilot without any process waits for its control host before it ends."""

LONGEST_COMMAND = 1 << 16
SET_CHILD_SUBREAPER = 36
GREETING_S = 5.0


def address() -> str:
    """Return the abstract address of the socket of this allocation."""
    job = os.environ.get("D0CTL_PILOT") or os.environ["SLURM_JOB_ID"]
    return "\0d0ctl-pilot-%d-%s" % (os.getuid(), job)


def serve() -> None:
    """Start commands, until nothing has run for `ABANDONED_S`."""
    _adopt_orphans()
    _live_in_scratch()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(address())
    listener.listen(64)
    woken, wake = os.pipe()
    for end in (woken, wake):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    callers: "Dict[int, socket.socket]" = {}
    busy_at = time.monotonic()
    while time.monotonic() - busy_at < ABANDONED_S:
        ready, _, _ = select.select([listener.fileno(), woken], [], [], 60.0)
        if woken in ready:
            os.read(woken, 4096)
        if listener.fileno() in ready:
            _accept(listener, callers)
        if _reap(callers):
            busy_at = time.monotonic()


def _adopt_orphans() -> None:
    """Be the parent of wrappers whose relay has ended: batch systems find them by their parents."""
    try:
        ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    except (OSError, AttributeError):
        pass


def _live_in_scratch() -> None:
    """Let the folder that HTCondor gives a job be its home: it may have no other."""
    if os.environ.get("_CONDOR_SCRATCH_DIR"):
        os.environ["HOME"] = os.environ["_CONDOR_SCRATCH_DIR"]


def _accept(listener: socket.socket, callers: "Dict[int, socket.socket]") -> None:
    """Start the command of a caller, if it is of the same user."""
    caller, _ = listener.accept()
    try:
        caller.settimeout(GREETING_S)
        credentials = caller.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        if struct.unpack("3i", credentials)[1] != os.getuid():
            raise OSError("another user is calling")
        arguments, streams = _receive(caller)
    except (OSError, ValueError):
        caller.close()
        return
    pid = os.fork()
    if pid == 0:
        _execute_child(arguments, streams)
    for stream in streams:
        os.close(stream)
    callers[pid] = caller


def _receive(caller: socket.socket) -> "Tuple[List[str], List[int]]":
    text, ancillary, _, _ = caller.recvmsg(LONGEST_COMMAND, socket.CMSG_SPACE(12))
    streams = array.array("i")
    for _, kind, data in ancillary:
        if kind == socket.SCM_RIGHTS:
            streams.frombytes(data)
    arguments = json.loads(text.decode())
    if len(streams) != 3 or not arguments:
        raise ValueError("no command with three streams")
    return arguments, list(streams)


def _execute_child(arguments: "List[str]", streams: "List[int]") -> None:
    """Run a command in place of this child."""
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.closerange(3, max(streams) + 1024)
        if os.path.isdir(os.environ.get("HOME", "")):
            os.chdir(os.environ["HOME"])
        os.execvp(arguments[0], [os.fsencode(word) for word in arguments])
    except OSError as error:
        os.write(2, ("%s: %s\n" % (arguments[0], error.strerror)).encode())
    finally:
        os._exit(127)


def _reap(callers: "Dict[int, socket.socket]") -> bool:
    """Tell callers how their commands have ended; return whether any process is left."""
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return True
            caller = callers.pop(pid, None)
            if caller is not None:
                code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + (status & 127)
                try:
                    caller.send(b"%d" % code)
                except OSError:
                    pass
                caller.close()
    except ChildProcessError:
        return False


if __name__ == "__main__":
    serve()
