"""The one poller: a thread that reports when the database has changed, and does nothing else."""

import threading
from collections.abc import Callable
from contextlib import suppress

from d0ctl.config import Home
from d0ctl.errors import D0Error, DatabaseUnavailable
from d0ctl.store.connection import Store
from d0ctl.store.nodes.leases import living_leases
from d0ctl.store.opening import open_store
from d0ctl.store.sqlite_errors import database_errors
from d0ctl_tui.app_events import Changed, ReadFailed

LOOK_S, QUIET_LOOK_S = 0.05, 0.1
"""How often it checks whether anything was committed: usually; when nothing was for a while."""

QUIET_AFTER = 40
"""After so many checks without a commit it checks less often; each takes 0.2 ms of CPU."""

DRIVERS_EVERY = 20
"""Polls between two checks of the driver: a process that dies commits nothing."""

PATIENCE_MS = 2_000

Version = tuple[int, int]


class Poller(threading.Thread):
    """Polls the database's version and posts events about changes."""

    def __init__(self, home: Home, post: Callable[[Changed | ReadFailed], object]) -> None:
        super().__init__(name="poller", daemon=True)
        self.home = home
        self._post = post
        self._end = threading.Event()
        self._store: Store | None = None
        self._seen: Version | None = None
        self._drivers: tuple[str, ...] = ()
        self._error: str | None = None
        self._looks = 0
        """Checks since the last change."""

    def stop(self) -> None:
        """End soon."""
        self._end.set()

    def run(self) -> None:
        """Poll until it is stopped."""
        while not self._end.wait(QUIET_LOOK_S if self._looks >= QUIET_AFTER else LOOK_S):
            try:
                self._check_database()
            except D0Error as error:
                self._report_error(str(error))
        self._close()

    def _check_database(self) -> None:
        if self._store is None:
            self._store = open_store(self.home, read_only=True, patience_ms=PATIENCE_MS)
        with database_errors(self.home):
            version = self._store.version()
            if version == (0, 0):
                raise DatabaseUnavailable(f"`{self.home.database}` is gone")
            moved = version != self._seen
            if self._seen is not None and version[0] != self._seen[0]:
                self._close()
                self._seen = None
                return
            self._seen = version
            self._looks = 0 if moved else self._looks + 1
            if moved or self._error or self._looks % DRIVERS_EVERY == 0:
                self._report_change(moved or bool(self._error))

    def _report_change(self, moved: bool) -> None:
        assert self._store is not None
        drivers = living_leases(self._store)
        if moved or drivers != self._drivers:
            self._error, self._drivers = None, drivers
            self._report(Changed(drivers))

    def _report_error(self, error: str) -> None:
        self._close()
        self._seen = None
        if error != self._error:
            self._error = error
            self._report(ReadFailed(error))

    def _report(self, news: Changed | ReadFailed) -> None:
        with suppress(RuntimeError):  # the loop ended meanwhile
            self._post(news)

    def _close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None
