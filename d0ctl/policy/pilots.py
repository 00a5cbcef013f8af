"""How many pilots to request, and which to end; pure."""

import math

from msgspec import Struct

UNACCEPTED_S = 180.0
"""After this time an unanswered submission that no queue shows counts as refused."""

UNKNOWN_S = 60.0
"""The time before its limit in which a pilot takes no packages: their run times may be unknown."""

UNKNOWN_SHARE = 0.1
"""But no more than this fraction of its time."""

FIRST_DELAY_S, LONGEST_DELAY_S = 15.0, 900.0
"""After failed submissions or pilots, the next ones wait for this time, doubled each time."""


class Supply(Struct, frozen=True):
    """The pilots of a batch system, and the limits of the site for them."""

    queued: int
    running: int
    free_cpus: float
    """CPUs of running pilots that no package uses."""
    lately: int
    """How many were submitted within the last minute."""
    cpus: int
    """CPUs of a pilot."""
    max_queued: int
    max_running: int
    submit_rate: int


def more(demand_cpus: float, supply: Supply) -> int:
    """Return how many pilots to submit for packages that no other node can take."""
    wanted = math.ceil((demand_cpus - supply.free_cpus) / supply.cpus) - supply.queued
    return max(0, min(
        wanted,
        supply.max_queued - supply.queued,
        supply.max_running - supply.queued - supply.running,
        supply.submit_rate - supply.lately,
    ))  # fmt: skip


def surplus(demand_cpus: float, supply: Supply) -> int:
    """Return how many queued pilots are no longer needed."""
    return supply.queued if demand_cpus <= 0 else 0


def is_closing(left_s: float | None, wall_time_s: float) -> bool:
    """Return whether a pilot is so close to its time limit that it takes no more packages."""
    return left_s is not None and left_s < min(UNKNOWN_S, UNKNOWN_SHARE * wall_time_s)


def delay_s(failures: int) -> float:
    """Return how long to wait after this many failures in a row."""
    return min(LONGEST_DELAY_S, FIRST_DELAY_S * 2.0 ** min(failures - 1, 20)) if failures else 0.0
