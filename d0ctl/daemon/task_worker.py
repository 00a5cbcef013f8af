"""The thread in which the agents of tasks work beside the loop."""

import logging
import threading
import time
from collections.abc import Callable

from d0ctl.config import Home
from d0ctl.errors import D0Error
from d0ctl.store import open_store

log = logging.getLogger("d0ctl")

LOOK_S = 0.2
"""How often it asks whether the database has changed."""

REST_S = 10.0
"""How long it pauses after an error."""

IDLE_S = 2.0
"""After this time it looks at the tasks although nothing has changed: some wait for a time."""


class TaskWorker:
    """Lets the agents work whenever the database has changed, until `end`."""

    def __init__(self, home: Home, wake: Callable[[], None]) -> None:
        self._home = home
        self._wake = wake
        self._leaving = threading.Event()
        self._thread = threading.Thread(target=self._work, name="tasks", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop after the present transaction; the next process goes on from there."""
        self._leaving.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._leaving.is_set():
            try:
                self._follow()
            except D0Error as error:
                log.error("%s", error)
            except Exception:
                log.exception("the work on tasks failed and is tried again")
            self._leaving.wait(REST_S)

    def _follow(self) -> None:
        from d0ctl.agents import round as rounds  # imports yaml, which daemons seldom need

        stops = self._leaving.is_set
        with open_store(self._home, resident=True) as store:
            seen: object = None
            due = 0.0
            while not stops():
                version = store.version()
                if version == seen and time.monotonic() < due:
                    self._leaving.wait(LOOK_S)
                    continue
                seen, due = version, time.monotonic() + IDLE_S
                while rounds.take(store, stops):
                    self._wake()
