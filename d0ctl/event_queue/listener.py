"""The thread that carries messages of a broker into the drop-box, one connection at a time."""

import logging
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from d0ctl.errors import D0Error
from d0ctl.event_queue.address import Take, where

log = logging.getLogger("d0ctl")

LOOK_S = 0.5
"""How long the thread may take to notice that it has to end."""

FIRST_DELAY_S, LONGEST_DELAY_S = 1.0, 60.0
"""The delay after the first failed try, and the longest delay."""

STEADY_S = 60.0
"""After a connection that lasted longer the delay is the first one again."""

MOST_UNREAD = 1_000
"""While so many files wait in the drop-box, messages stay with the broker."""

KEPT_S = 86_400
"""How long the broker keeps messages while no daemon runs; older events would be stale."""


class Listener(threading.Thread):
    """Takes messages until `leave`. `write` has a message on the disk when it returns."""

    def __init__(self, said: Mapping[str, Any], client: str, unread: Path, write: Take) -> None:
        super().__init__(name="event queue", daemon=True)
        self.said = said
        self._client = said.get("client", client)
        self._unread = unread
        self._write = write
        self._leaving = threading.Event()
        self._last_error = ""
        self.is_listening = threading.Event()
        """Set while the broker sends what comes."""

    def leave(self) -> None:
        """Let the thread end; what it has not acknowledged the broker sends again."""
        self._leaving.set()

    def run(self) -> None:
        """Connect, and connect again after each fault."""
        delay = FIRST_DELAY_S
        while not self._leaving.is_set():
            began = time.monotonic()
            try:
                self._listen()
            except D0Error as error:
                if time.monotonic() - began > STEADY_S:
                    delay = FIRST_DELAY_S
                if str(error) != self._last_error:
                    self._last_error = str(error)
                    log.warning("event queue %s: %s", where(self.said), self._last_error)
            except Exception:
                log.exception("the event queue failed and is tried again")
            self._leaving.wait(delay)
            delay = min(2 * delay, LONGEST_DELAY_S)

    def _listen(self) -> None:
        from d0ctl.event_queue.subscription import Connection  # an extra, which may be missing

        connection = Connection(self.said, self._client, kept_s=KEPT_S, take=self._write)
        try:
            connection.open()
            self.is_listening.set()
            self._last_error = ""
            log.info("event queue %s: listening to `%s`", where(self.said), self.said["topic"])
            while not self._leaving.is_set():
                if sum(1 for _ in self._unread.iterdir()) >= MOST_UNREAD:
                    self._leaving.wait(LOOK_S)
                else:
                    connection.turn(LOOK_S)
        finally:
            self.is_listening.clear()
            connection.close()
