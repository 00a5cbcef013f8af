"""How far the packages of a selection are."""

import time
from collections.abc import Mapping

from msgspec import Struct

from d0ctl.errors import BadUsage
from d0ctl.model import by_status
from d0ctl.select import Selector
from d0ctl.store.connection import Store
from d0ctl.units import parse_time


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
    from d0ctl.store.views import awaited

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


def seconds_of(time_limit: float | str) -> float:
    """Return a time limit in seconds. Raises BadUsage."""
    try:
        return parse_time(time_limit) if isinstance(time_limit, str) else time_limit
    except ValueError as error:
        raise BadUsage(str(error)) from error
