"""Couriers on played links, and attempts that they report of."""

import queue
import threading
from typing import Any

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.loop import Loop
from d0ctl.daemon.steps.monitor import assign_couriers
from d0ctl.store import Store
from tests.daemon.contact import Stub, turn_until
from tests.support.rows import change, read
from tests.support.waiting import wait_until


def outcomes(store: Store) -> list[str | None]:
    """How each attempt ended, in their order."""
    return [row[0] for row in read(store, "attempt", "outcome")]


def reach_localhost(desk: Desk) -> None:
    """Let the courier shake hands with a relay, and leave what it reports unheard."""
    with desk.store.writing():
        change(desk.store, "node", state="up")
    Loop(desk).work([assign_couriers])
    wait_until(lambda: not desk.mailbox.empty())


def contact_localhost(desk: Desk) -> None:
    """Take turns until the node is up; a first connection may fail on a machine under load."""
    reach_localhost(desk)
    turn_until(desk, lambda: all(courier.is_up for courier in desk.couriers.values()))


class Links:
    """What a courier gets when it reaches its node: one link after the other."""

    def __init__(self) -> None:
        self.ready: queue.SimpleQueue[Stub | Exception] = queue.SimpleQueue()
        self.asked = threading.Event()

    def open(self, *_: object, **__: object) -> Stub:
        self.asked.set()
        link = self.ready.get()
        if isinstance(link, Exception):
            raise link
        return link


def ended(desk: Desk) -> tuple[Any, ...]:
    """How the attempt ended, and why."""
    return read(desk.store, "attempt", "outcome", "reason", "message")[0]
