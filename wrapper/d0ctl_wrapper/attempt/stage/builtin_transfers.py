"""Transfers without a command of the site: http, https and file.

They run in a process forked from the wrapper, which can be ended at any moment.
"""

import os
import signal
from typing import Callable

from d0ctl_wrapper.attempt.run.spawn import DEFAULTS, LOG_FLAGS, SIGNALS
from d0ctl_wrapper.disk import CHUNK, FULL
from d0ctl_wrapper.host import packing
from d0ctl_wrapper.host.fetch import SourceNotFound, Unreachable, opened
from d0ctl_wrapper.protocol.paths import NodePaths, to_path

EXIT_FAILED, EXIT_MISSING, EXIT_FULL = 75, 66, 73
"""The exit codes of such a process."""

SERVER_TIMEOUT_S = 60.0
"""The seconds that a server may be silent."""


def fork(work: "Callable[[], None]", log: bytes) -> int:
    """Fork a process that does `work`; return its pid. Errors are in its exit code and log.

    Signals are blocked in the wrapper that forks it, so that none is lost.
    """
    wrapper = os.getpid()
    pid = os.fork()
    if pid == 0:
        _execute_child(work, log, wrapper)
    return pid


def _execute_child(work: "Callable[[], None]", log: bytes, wrapper: int) -> None:
    code = EXIT_FAILED
    try:
        os.setpgid(0, 0)
        signal.set_wakeup_fd(-1)
        for number in (*DEFAULTS, *SIGNALS):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.dup2(os.open(log, LOG_FLAGS, 0o600), 2)
        code = _exit_code(work)
    except BaseException as error:
        _log("%s: %s" % (type(error).__name__, error))
    finally:
        os._exit(code)


def _exit_code(work: "Callable[[], None]") -> int:
    """Do the work, and return the exit code."""
    try:
        work()
    except SourceNotFound as error:
        _log(str(error))
        return EXIT_MISSING
    except (Unreachable, ValueError) as error:
        _log(str(error))
        return EXIT_FAILED
    except OSError as error:
        _log(error.strerror or str(error))
        return EXIT_FULL if error.errno in FULL else EXIT_FAILED
    return 0


def _log(text: str) -> None:
    """Write a line to the log, if the disk is not full."""
    try:
        os.write(2, text.encode("utf-8", "replace") + b"\n")
    except OSError:
        pass


def fetch(paths: NodePaths, locator: str, aside: bytes) -> None:
    """Fetch the file of a locator to the new path `aside`."""
    with opened(paths, locator, aside, _nothing) as file:
        if not os.path.exists(aside):
            copy(file.fileno(), aside)


def pack(paths: NodePaths, folder: str, aside: bytes) -> None:
    """Pack a directory of this node into the new file `aside`."""
    packing.pack(to_path(folder), aside, _nothing)


def copy(source: int, aside: bytes) -> None:
    """Copy an open file to a new one, and sync it."""
    target = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        while True:
            chunk = os.read(source, CHUNK)
            if not chunk:
                break
            _write(target, chunk)
        os.fsync(target)
    finally:
        os.close(target)


def put(path: bytes, url: str) -> None:
    """Store a file at an http or https URL, by PUT."""
    from urllib.error import HTTPError, URLError
    from urllib.request import Request, urlopen

    with open(path, "rb") as file:
        length = str(os.fstat(file.fileno()).st_size)
        headers = {"Content-Length": length, "Content-Type": "application/octet-stream"}
        try:
            with urlopen(Request(url, file, headers, method="PUT"), timeout=SERVER_TIMEOUT_S):
                pass
        except HTTPError as error:
            with error:
                raise Unreachable("`%s` answers %d %s" % (url, error.code, error.reason))
        except URLError as error:
            raise Unreachable("`%s` does not answer: %s" % (url, error.reason))


def _write(target: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(target, left) :]


def _nothing() -> None:
    """Do nothing: the process is ended from outside."""
