"""The only place where files are carried without a command of the site: http, https and file.

It happens in a process forked off the wrapper, which can be ended at any moment.
"""

import os
import signal
from typing import Callable

from d0ctl_wrapper.attempt.run.spawn import DEFAULTS, LOG_FLAGS, SIGNALS
from d0ctl_wrapper.disk import CHUNK, FULL
from d0ctl_wrapper.host.fetch import Unreachable, Vanished, opened
from d0ctl_wrapper.protocol.paths import NodePaths

EXIT_TROUBLE, EXIT_ABSENT, EXIT_FULL = 75, 66, 73
"""What the exit code of such a process tells its wrapper."""

PATIENCE = 60.0
"""How many seconds a server may say nothing."""


def fork(work: "Callable[[], None]", log: bytes) -> int:
    """Fork a process that does `work`; give its pid. What goes wrong is in its exit code and log.

    Signals are blocked in the wrapper that forks it, so that none is lost.
    """
    wrapper = os.getpid()
    pid = os.fork()
    if pid == 0:
        _become(work, log, wrapper)
    return pid


def _become(work: "Callable[[], None]", log: bytes, wrapper: int) -> None:
    code = EXIT_TROUBLE
    try:
        os.setpgid(0, 0)
        signal.set_wakeup_fd(-1)
        for number in (*DEFAULTS, *SIGNALS):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.dup2(os.open(log, LOG_FLAGS, 0o600), 2)
        code = _done(work)
    except BaseException as error:
        _say("%s: %s" % (type(error).__name__, error))
    finally:
        os._exit(code)


def _done(work: "Callable[[], None]") -> int:
    """Do it, and give the exit code."""
    try:
        work()
    except Vanished as error:
        _say(str(error))
        return EXIT_ABSENT
    except (Unreachable, ValueError) as error:
        _say(str(error))
        return EXIT_TROUBLE
    except OSError as error:
        _say(error.strerror or str(error))
        return EXIT_FULL if error.errno in FULL else EXIT_TROUBLE
    return 0


def _say(text: str) -> None:
    """Leave a word in the log, if the disk has room for it."""
    try:
        os.write(2, text.encode("utf-8", "replace") + b"\n")
    except OSError:
        pass


def bring(paths: NodePaths, locator: str, aside: bytes) -> None:
    """Bring what a locator names to `aside`, where nothing is yet."""
    with opened(paths, locator, aside, _nothing) as file:
        if not os.path.exists(aside):
            copy(file.fileno(), aside)


def copy(source: int, aside: bytes) -> None:
    """Copy an open file to a new one, and see that it is on the disk."""
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
            with urlopen(Request(url, file, headers, method="PUT"), timeout=PATIENCE):
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
    """Make no pause: the process is ended from outside."""
