"""When packages that wait on a node for their inputs should move to another node."""

from collections.abc import Mapping

from d0ctl.schedule.costs import Cost

LEAST_LATE_S = 60.0
"""A package that is late by less than this stays where it is."""

LATE = 2.0
"""So does one that is late by less than this multiple of its expected wait."""

MARGIN = 0.3
"""It goes elsewhere only if it ends there earlier by this fraction."""

MOST_MOVES = 3
"""After this many moves it stays."""


def is_late(waited_s: float, expected_s: float) -> bool:
    """Return whether a package waits much longer than expected."""
    return waited_s - expected_s >= max(LEAST_LATE_S, LATE * expected_s)


def better(
    waited_s: float, expected_s: float, here: Cost, others: Mapping[str, Cost], moves: int
) -> str | None:
    """Return the node where a late package ends earlier by a margin, None if it should stay.

    A late input is assumed to need as long again; `others` are nodes that have room.
    """
    if moves >= MOST_MOVES or not is_late(waited_s, expected_s) or not others:
        return None
    left_s = max(here.start_s, waited_s - expected_s) + (here.run_s or 0.0)
    name = min(others, key=lambda name: others[name].end_s)
    return name if others[name].end_s < (1.0 - MARGIN) * left_s else None
