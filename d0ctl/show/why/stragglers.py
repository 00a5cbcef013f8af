"""Packages that run much longer than expected."""

from collections.abc import Sequence

from d0ctl.store.views.activity import Straggler
from d0ctl.units import count, duration

MOST = 3
"""How many of them a card names; it counts the rest."""


def sentence(straggler: Straggler, now: float) -> str:
    """Say how long it runs, and how long was expected."""
    return (
        f"it is a straggler: it has been running on `{straggler.node}` for "
        f"{duration(now - straggler.started)}; {duration(straggler.expected)} were expected, "
        f"at most {duration(straggler.high)}"
    )


def lines(found: Sequence[Straggler], now: float) -> list[str]:
    """Name the first of them, and count the rest."""
    said = [
        f"straggler: `{one.path}` has been running on `{one.node}` for "
        f"{duration(now - one.started)}; at most {duration(one.high)} were expected"
        for one in found[:MOST]
    ]
    more = len(found) - MOST
    return [*said, f"and {count(more, 'straggler')} more"] if more > 0 else said
