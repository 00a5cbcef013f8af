"""Delivery of notifications, by mail and by command, in threads that nothing waits for."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from d0ctl.config import Home
from d0ctl.errors import D0Error, NotSent
from d0ctl.notify import compose, notifier, site_command
from d0ctl.notify.routes import COMMAND
from d0ctl.store import Store, open_store
from d0ctl.store.mail import mail_queue
from d0ctl.store.mail.mail_queue import DueMessage
from d0ctl.store.nodes import leases
from d0ctl.store.nodes.site import setting

log = logging.getLogger(__name__)

LOOK_S = 1.0
"""How often a sender checks whether something is due."""

FIRST_DELAY_S, LONGEST_DELAY_S = 30.0, 900.0
"""The delay after the first failed try, and the longest delay."""

MOST_RUNS = 6
"""How often the command is run for one notification before d0ctl gives up."""

LEAVE_S = 3.0
"""How long the end of a process waits for notifications that are being sent."""

END_S = 3.0
"""How long it then waits until a command that hangs is killed."""

Report = Callable[[DueMessage], None]
"""Sends one notification. Raises NotSent."""


class NotificationSender(threading.Thread):
    """Composes and sends what is due, by mail or by command, one at a time."""

    def __init__(
        self, home: Home, *, is_command: bool, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(name="command" if is_command else "mail", daemon=True)
        self._home = home
        self.is_command = is_command
        self._clock = clock
        self._leaving = threading.Event()
        self._abandoned = threading.Event()
        self._lease = f"post {self.name}"
        self._way: str | None = None

    def leave(self) -> None:
        """Send what is due now, and end."""
        self._leaving.set()

    def abandon(self) -> None:
        """Stop without finishing the current notification; the next process sends it."""
        self._abandoned.set()

    def run(self) -> None:
        """Send due notifications until `leave`; errors of the database do not end it."""
        while True:
            try:
                with open_store(self._home, resident=True) as store:
                    self._carry_on(store)
                return
            except D0Error as error:
                log.error("%s", error)
            if self._leaving.wait(LOOK_S):
                return

    def _carry_on(self, store: Store) -> None:
        is_last = False
        while not is_last:
            is_last = self._leaving.wait(LOOK_S)
            self._round_or_log(store)
        with store.writing():
            leases.give_lease(store, self._lease)

    def _round_or_log(self, store: Store) -> None:
        try:
            self.round(store)
        except D0Error as error:
            log.error("%s", error)
        except Exception:
            log.exception("sending %s failed and is tried again", self.name)

    def round(self, store: Store) -> None:
        """Compose and send due notifications now, unless another process does."""
        now = self._clock()
        said = setting(store, "mail") or {}
        if not (self._waiting(store, now) or self._open(store, now)):
            return
        with store.writing():
            if not leases.take_lease(store, self._lease, now=now):
                return
            mail_queue.clean_up(store, now=now)
            for recipient in self._waiting(store, now):
                compose.write(store, said, recipient, now=now)
        rows = self._open(store, now)
        self._way = notifier.way(said) if self.is_command else None
        if rows and self.is_command and notifier.command(said):
            self._carry(store, rows, lambda row: self._run(said, row))
        elif rows and not self.is_command and "host" in said:
            self._mail(store, rows, said)

    def _waiting(self, store: Store, now: float) -> list[str]:
        found = mail_queue.due(store, now=now)
        return [recipient for recipient in found if (recipient == COMMAND) is self.is_command]

    def _open(self, store: Store, now: float) -> list[DueMessage]:
        return mail_queue.to_send(store, is_command=self.is_command, now=now)

    def _mail(self, store: Store, rows: list[DueMessage], said: Mapping[str, Any]) -> None:
        """Send mails over one connection to the server."""
        from d0ctl.notify.smtp import Server

        try:
            with Server(said) as server:
                self._carry(store, rows, lambda row: server.send(row.recipient, row.body.encode()))
                server.quit()
        except NotSent as error:
            for row in rows:
                self._keep(store, row, error)

    def _run(self, said: Mapping[str, Any], row: DueMessage) -> None:
        timeout = said.get("command-timeout", site_command.TIMEOUT_S)
        try:
            site_command.run(
                notifier.command(said) or (), row.body, timeout=timeout, stop=self._abandoned,
                name=self._way,
            )  # fmt: skip
        except NotSent as error:
            is_last = row.tries + 1 >= MOST_RUNS
            raise NotSent(str(error), for_good=is_last) from error

    def _carry(self, store: Store, rows: list[DueMessage], tell: Report) -> None:
        for row in rows:
            if self._abandoned.is_set():
                return
            try:
                tell(row)
            except NotSent as error:
                self._keep(store, row, error)
            else:
                with store.writing():
                    mail_queue.sent(store, row.id, way=self._way, now=self._clock())

    def _keep(self, store: Store, row: DueMessage, error: NotSent) -> None:
        """Record why a notification was not sent, and when it is tried again, if ever."""
        now = self._clock()
        log.warning("`%s` was not sent to %s: %s", row.title, row.recipient, error)
        with store.writing():
            if error.for_good:
                mail_queue.give_up(store, row.id, str(error), way=self._way, now=now)
            else:
                delay = min(LONGEST_DELAY_S, FIRST_DELAY_S * 2 ** min(row.tries, 10))
                mail_queue.not_sent(store, row.id, str(error), not_before=now + delay)


class Delivery:
    """The senders of a process."""

    def __init__(self, home: Home) -> None:
        self._senders = [
            NotificationSender(home, is_command=is_command) for is_command in (False, True)
        ]

    def start(self) -> None:
        """Start the senders."""
        for sender in self._senders:
            sender.start()

    def stop(self, timeout: float = LEAVE_S) -> None:
        """Send due notifications within a time limit; the rest is left for the next process.

        The thread that runs the command ends it. Nothing else could: a process that ends does not
        wait for its threads, and the command is in a session of its own.
        """
        for sender in self._senders:
            sender.leave()
        self._join(self._senders, timeout)
        for sender in self._senders:
            sender.abandon()
        self._join([sender for sender in self._senders if sender.is_command], END_S)

    @staticmethod
    def _join(senders: Iterable[NotificationSender], timeout: float) -> None:
        deadline = time.monotonic() + timeout
        for sender in senders:
            if sender.is_alive():
                sender.join(max(0.0, deadline - time.monotonic()))
