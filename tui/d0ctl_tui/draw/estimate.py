"""When a job or stage ends, from how fast its packages go and how many slots there are."""

from collections.abc import Iterable

from msgspec import Struct


class Share(Struct, frozen=True):
    """A stage: how many packages can still run, how long one takes, and its cpus."""

    left: int
    pace: float | None
    cpus: int = 1


class Estimate(Struct, frozen=True):
    """Seconds that are left; at least so many where some stage's pace is not known."""

    seconds: float
    at_least: bool = False


def remaining(shares: Iterable[Share], slots: int) -> Estimate | None:
    """What is left, if all slots work at it; None where nothing is known or left."""
    work, longest, unknown, known = 0.0, 0.0, False, False
    for share in shares:
        if not share.left:
            continue
        if share.pace is None:
            unknown = True
            continue
        known = True
        work += share.left * share.pace * share.cpus
        longest = max(longest, share.pace)
    if not known or slots <= 0:
        return None
    return Estimate(max(work / slots, longest), unknown)
