"""The only place that knows how a wrapper that takes no processors gets some from its relay.

Three empty files in the attempt's folder say how far that is, so that a relay that comes anew
finds who waits; SIGUSR1 says that one has changed. A wrapper that brings its inputs, or whose
list of inputs is still open, is no load for its node (InGrid, Package Distribution Daemons).
"""

import os
import signal
from typing import Callable

from d0ctl_wrapper.attempt.run.processes import Told
from d0ctl_wrapper.attempt.run.spawn import SIGNALS
from d0ctl_wrapper.host import spool
from d0ctl_wrapper.protocol.paths import AttemptFolder

NONE, ASKED, GRANTED = b"cpu_free", b"cpu_request", b"cpu_grant"

ASK_AGAIN = 5.0
"""Every so many seconds a wrapper that waits wakes its relay, in case none has heard it."""


def take_none(folder: AttemptFolder) -> None:
    """Note for a wrapper about to be forked that it takes no processors."""
    _note(folder, NONE)


def ask(folder: AttemptFolder) -> None:
    """Note that a wrapper is done with what takes no processors."""
    _note(folder, ASKED)


def grant(folder: AttemptFolder) -> None:
    """Note that an attempt takes its processors from now on."""
    _note(folder, GRANTED)


def is_without(folder: AttemptFolder) -> bool:
    """Tell whether an attempt takes no processors."""
    return _is_noted(folder, NONE) and not _is_noted(folder, GRANTED)


def is_asked(folder: AttemptFolder) -> bool:
    """Tell whether a wrapper asks for processors."""
    return _is_noted(folder, ASKED)


def wait(folder: AttemptFolder, answer: "Callable[[], None]") -> None:
    """Ask for processors and wait until there are; raise Told on SIGTERM.

    `answer` tells whoever asks by SIGUSR1 how the attempt stands. On a full disk nobody can be
    asked for processors, and the work goes on rather than never.
    """
    try:
        ask(folder)
    except OSError:
        return
    while is_without(folder):
        spool.wake_relay(folder.node)
        caught = signal.sigtimedwait(SIGNALS, ASK_AGAIN)
        if caught is not None and caught.si_signo == signal.SIGTERM:
            raise Told
        if caught is not None and caught.si_signo == signal.SIGUSR1:
            answer()


def _note(folder: AttemptFolder, name: bytes) -> None:
    os.close(os.open(folder.file(name), os.O_WRONLY | os.O_CREAT, 0o600))


def _is_noted(folder: AttemptFolder, name: bytes) -> bool:
    return os.path.exists(folder.file(name))
