"""The only place that says what a site has its packages watched for, and how patiently."""

from dataclasses import dataclass

FEWEST_RUNS = 10
"""A program has a habit after so many successful runs."""

LENIENCE = 5.0
"""A program may be silent for so many times its longest gap."""

SHORTEST_S = 1800.0
"""By its habit alone no program is looping before so many seconds."""


@dataclass(frozen=True, slots=True)
class Watching:
    """What holds for the packages of a site that ask for nothing else; None guards nothing."""

    looping: float | None
    """Seconds without a sign of life."""
    reserve: int
    """Bytes that are to stay free on the disk of a node."""
    patience: float
    """Seconds that a package stands still for want of disk before it fails."""
    swap: int | None
    """Bytes a second that a node may swap, both in and out."""
    yield_cpu: float | None
    """The part of a node's processors that others may take before packages give way."""


@dataclass(frozen=True, slots=True)
class Habit:
    """What successful runs of a program showed: how many they were, and their longest gap."""

    runs: int
    gap: float


def silence(asked: float | None, site: Watching, habit: Habit | None) -> float | None:
    """How many seconds a binary may show nothing; None: as long as it likes.

    What a package asks for holds. Without that it is what the site says, or else the habit of
    the program, and never less than the habit allows.
    """
    if asked is not None:
        return asked
    if habit is None or habit.runs < FEWEST_RUNS:
        return site.looping
    usual = LENIENCE * habit.gap
    return max(usual, SHORTEST_S if site.looping is None else site.looping)
