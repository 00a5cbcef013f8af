"""The end of a job or stage, from the pace of its packages and the number of slots."""

from collections.abc import Iterable

from msgspec import Struct


class Share(Struct, frozen=True):
    """A stage: how many packages can still run, how long one takes, and its CPUs."""

    left: int
    pace: float | None
    cpus: int = 1


class Estimate(Struct, frozen=True):
    """Seconds left; a lower bound if some stage's pace is unknown."""

    seconds: float
    at_least: bool = False


def remaining(shares: Iterable[Share], slots: int) -> Estimate | None:
    """Return the time left if all slots work on it; None if nothing is known or left."""
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
