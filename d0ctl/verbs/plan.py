"""The only place that says what a verb is asked for, and what its plan tells."""

from collections.abc import Mapping
from dataclasses import dataclass

from d0ctl.select import Selector

MOST_SHOWN = 50
"""How many packages or files of each kind a plan names; it counts the rest."""


@dataclass(frozen=True, slots=True)
class Request:
    """A verb and what it is meant for."""

    verb: str
    target: Selector
    drop_outputs: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """A package that a plan changes, and the phase it is in now."""

    path: str
    phase: str


@dataclass(frozen=True, slots=True)
class Loser:
    """A package that loses inputs and goes on without them; `starts` if nothing else is missing."""

    path: str
    lost: int
    left: int
    starts: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """What a verb would do: changes, what it would unblock, and what would be lost.

    Lists name the first few; the numbers beside them count all.
    """

    request: Request
    jobs: tuple[str, ...] = ()
    phases: Mapping[str, int] | None = None
    packages: int = 0
    changes: tuple[Change, ...] = ()
    kept: Mapping[str, int] | None = None
    also: int = 0
    also_dropped: tuple[Change, ...] = ()
    files: int = 0
    files_lost: tuple[str, ...] = ()
    losers: tuple[Loser, ...] = ()
    losing: int = 0
    starting: int = 0

    @property
    def by_flag(self) -> bool:
        """Whether it changes the flag of whole jobs and no package."""
        return bool(self.jobs) and self.request.verb in ("hold", "release")
