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
from d0ctl_wrapper.protocol.paths import Places

NONE, ASKED, GRANTED = b"cpu_free", b"cpu_request", b"cpu_grant"

ASK_AGAIN = 5.0
"""Every so many seconds a wrapper that waits wakes its relay, in case none has heard it."""


def take_none(places: Places, attempt: int) -> None:
    """Note for a wrapper about to be forked that it takes no processors."""
    _note(places, attempt, NONE)


def ask(places: Places, attempt: int) -> None:
    """Note that a wrapper is done with what takes no processors."""
    _note(places, attempt, ASKED)


def grant(places: Places, attempt: int) -> None:
    """Note that an attempt takes its processors from now on."""
    _note(places, attempt, GRANTED)


def is_without(places: Places, attempt: int) -> bool:
    """Tell whether an attempt takes no processors."""
    return _is_noted(places, attempt, NONE) and not _is_noted(places, attempt, GRANTED)


def is_asked(places: Places, attempt: int) -> bool:
    """Tell whether a wrapper asks for processors."""
    return _is_noted(places, attempt, ASKED)


def wait(places: Places, attempt: int, answer: "Callable[[], None]") -> None:
    """Ask for processors and wait until there are; raise Told on SIGTERM.

    `answer` tells whoever asks by SIGUSR1 how the attempt stands. On a full disk nobody can be
    asked for processors, and the work goes on rather than never.
    """
    try:
        ask(places, attempt)
    except OSError:
        return
    while is_without(places, attempt):
        spool.poke(places)
        caught = signal.sigtimedwait(SIGNALS, ASK_AGAIN)
        if caught is not None and caught.si_signo == signal.SIGTERM:
            raise Told
        if caught is not None and caught.si_signo == signal.SIGUSR1:
            answer()


def _note(places: Places, attempt: int, name: bytes) -> None:
    os.close(os.open(places.attempt(attempt, name), os.O_WRONLY | os.O_CREAT, 0o600))


def _is_noted(places: Places, attempt: int, name: bytes) -> bool:
    return os.path.exists(places.attempt(attempt, name))
