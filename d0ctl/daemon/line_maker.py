"""The thread that makes lines for groups of late outputs beside the loop."""

import logging
import threading
import time
from collections.abc import Callable

from d0ctl.config import Home
from d0ctl.errors import D0Error
from d0ctl.store import open_store

log = logging.getLogger(__name__)

REST_S = 10.0
"""How long it pauses after an error."""


class LineMaker:
    """Makes the lines of all jobs that wait for them, whenever it is started."""

    def __init__(self, home: Home, wake: Callable[[], None]) -> None:
        self._home = home
        self._wake = wake
        self._leaving = threading.Event()
        self._thread: threading.Thread | None = None
        self._rests_until = 0.0

    def begin(self) -> None:
        """Make the lines that can be made now, unless it is doing so already."""
        is_busy = self._thread is not None and self._thread.is_alive()
        if not is_busy and time.monotonic() >= self._rests_until:
            self._thread = threading.Thread(target=self._work, name="lines", daemon=True)
            self._thread.start()

    def end(self) -> None:
        """Stop after the present transaction; another process makes the rest."""
        self._leaving.set()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        from d0ctl.store.jobs.correction.late_lines import make_lines  # few jobs have such groups

        try:
            with open_store(self._home, resident=True) as store:
                make_lines(store, time.time, self._leaving.is_set)
        except D0Error as error:
            log.error("%s", error)
            self._rests_until = time.monotonic() + REST_S
        except Exception:
            log.exception("making lines failed and is tried again")
            self._rests_until = time.monotonic() + REST_S
        self._wake()
