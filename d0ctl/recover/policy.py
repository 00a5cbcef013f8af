"""What follows a failed attempt: the defaults of the design, section 3."""

import enum

from d0ctl.model import Reason

MOST_RESTARTS = 10
"""How often a lost package runs again before a person is asked."""

RESTARTED = frozenset({Reason.LOST, Reason.PLATFORM_FAILURE})
"""Reasons that are not the package's own doing (`001`, automatic restart)."""


class Verdict(enum.Enum):
    """What becomes of a package whose attempt failed."""

    FAIL = "fail"
    """It stays failed until a person drops or retries it (`000` section 5)."""
    RESTART = "restart"
    """It was lost, so it runs again at once and nothing is counted against it."""


def judge(reason: str, *, restarts: int) -> Verdict:
    """The verdict on an attempt that failed for `reason` after so many restarts."""
    if reason in RESTARTED and restarts < MOST_RESTARTS:
        return Verdict.RESTART
    return Verdict.FAIL
