"""The guards of a site for its packages, and how long a program may be silent; pure."""

from msgspec import Struct

FEWEST_RUNS = 10
"""A program has a history after this many successful runs."""

LENIENCE = 5.0
"""A program may be silent for this many times its longest gap."""

SHORTEST_S = 1800.0
"""By its history alone no program counts as looping before this many seconds."""


class Watching(Struct, frozen=True):
    """The guards of a site for packages that set none themselves; None guards nothing."""

    looping: float | None
    """Seconds without a sign of life."""
    reserve: int
    """Bytes that must stay free on the disk of a node."""
    patience: float
    """Seconds that a package is suspended because the disk is full before it fails."""
    swap: int | None
    """Bytes per second that a node may swap, both in and out."""
    yield_cpu: float | None
    """The fraction of a node's processors that others may use before packages give way."""


class RunTimeHistory(Struct, frozen=True):
    """The history of a program: how many runs succeeded, and their longest gap in seconds."""

    runs: int
    gap: float


def silence(asked: float | None, site: Watching, history: RunTimeHistory | None) -> float | None:
    """Return how many seconds a binary may be silent; None is no limit.

    The package's own limit counts; else that of the site or the program's history, if larger.
    """
    if asked is not None:
        return asked
    if history is None or history.runs < FEWEST_RUNS:
        return site.looping
    usual = LENIENCE * history.gap
    return max(usual, SHORTEST_S if site.looping is None else site.looping)
