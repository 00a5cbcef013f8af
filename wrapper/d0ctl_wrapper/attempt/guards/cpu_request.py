"""How a wrapper without CPUs gets some from its relay.

Three empty files in the attempt's folder have the state, so that a new relay finds it; SIGUSR1
signals a change. A wrapper that stages in, or whose input list is still open, is no load for its
node (InGrid, Package Distribution Daemons).
"""

import os
import signal
from typing import Callable

from d0ctl_wrapper.attempt.run.processes import Terminated
from d0ctl_wrapper.attempt.run.spawn import SIGNALS
from d0ctl_wrapper.host import spool
from d0ctl_wrapper.protocol.paths import AttemptFolder

FREE, REQUEST, GRANT = b"cpu_free", b"cpu_request", b"cpu_grant"

ASK_AGAIN_S = 5.0
"""The seconds after which a waiting wrapper wakes its relay again."""


def begin_without(folder: AttemptFolder) -> None:
    """Record for a wrapper about to be forked that it takes no CPUs."""
    _create(folder, FREE)


def request(folder: AttemptFolder) -> None:
    """Request CPUs."""
    _create(folder, REQUEST)


def grant(folder: AttemptFolder) -> None:
    """Grant an attempt its CPUs from now on."""
    _create(folder, GRANT)


def is_without(folder: AttemptFolder) -> bool:
    """Return whether an attempt takes no CPUs."""
    return _exists(folder, FREE) and not _exists(folder, GRANT)


def is_requested(folder: AttemptFolder) -> bool:
    """Return whether a wrapper requests CPUs."""
    return _exists(folder, REQUEST)


def wait(folder: AttemptFolder, on_status_request: "Callable[[], None]") -> None:
    """Request CPUs and wait until they are granted; raise Terminated on SIGTERM.

    `on_status_request` answers SIGUSR1. On a full disk CPUs cannot be requested, and the work
    continues without a grant.
    """
    try:
        request(folder)
    except OSError:
        return
    while is_without(folder):
        spool.wake_relay(folder.node)
        caught = signal.sigtimedwait(SIGNALS, ASK_AGAIN_S)
        if caught is not None and caught.si_signo == signal.SIGTERM:
            raise Terminated
        if caught is not None and caught.si_signo == signal.SIGUSR1:
            on_status_request()


def _create(folder: AttemptFolder, name: bytes) -> None:
    os.close(os.open(folder.file(name), os.O_WRONLY | os.O_CREAT, 0o600))


def _exists(folder: AttemptFolder, name: bytes) -> bool:
    return os.path.exists(folder.file(name))
