"""How far the packages of a selection are."""

import threading
import time
from collections.abc import Generator, Mapping

from msgspec import Struct

from d0ctl.config import Home
from d0ctl.errors import BadUsage
from d0ctl.model import by_status
from d0ctl.select import Selector
from d0ctl.store import opening
from d0ctl.store.connection import Store
from d0ctl.store.views import awaited, browse
from d0ctl.units import parse_time

LOOK_S = 0.1
"""How long to wait between two reads of the database."""


class Progress(Struct, frozen=True):
    """The packages of a selection in each of the six statuses."""

    status: str
    packages: Mapping[str, int]

    @property
    def is_successful(self) -> bool:
        """Whether everything has succeeded."""
        return self.status == "successful"


def counts_now(store: Store, wanted: Selector) -> tuple[Progress, bool]:
    """Return the counts, and whether nothing in it can move."""
    with store.reading():
        parts = awaited.read(store, wanted, time.time())
    states = {part.state for part in parts}
    counts: dict[str, int] = {}
    for part in parts:
        for phase, number in part.counts.items():
            counts[phase] = counts.get(phase, 0) + number
    status = states.pop() if len(states) == 1 else "mixed"
    is_settled = all(part.found.standing.is_settled for part in parts)
    return Progress(str(status), by_status(counts)), is_settled


def driven(home: Home, name: str) -> Generator[None, None, None]:
    """Drive a job to its end in a thread, and yield now and then until it has ended."""
    from d0ctl.daemon.drive import drive

    with opening.reader(home) as store:
        job = browse.job(store, name)
    stop, failures = threading.Event(), []

    def work() -> None:
        try:
            drive(home, job.id, lambda counts: None, stop)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=work, name=f"drive {job.name}")
    thread.start()
    try:
        while thread.is_alive():
            thread.join(LOOK_S)
            yield
    finally:
        stop.set()
        thread.join()
    if failures:
        raise failures[0]


def seconds_of(time_limit: float | str) -> float:
    """Return a time limit in seconds. Raises BadUsage."""
    try:
        return parse_time(time_limit) if isinstance(time_limit, str) else time_limit
    except ValueError as error:
        raise BadUsage(str(error)) from error
