"""The only place that says what a verb is asked for, and what its plan tells."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from d0ctl.select import Selector
from d0ctl.units import format_size, format_time

MOST_SHOWN = 50
"""How many packages or files of each kind a plan names; it counts the rest."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What packages ask for when they run again; None and empty leave it as it was.

    `nodes` takes the place of their node list, `parameters` of those the job was made with;
    `environment` is added to theirs. With `from_scratch` nothing that former attempts left is used.
    """

    memory: int | None = None
    disk: int | None = None
    cpus: int | None = None
    wall_time: float | None = None
    nodes: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    from_scratch: bool = False

    def words(self) -> str:
        """The options that ask for it, for the history; only the names of variables."""
        given = [
            ("--memory", None if self.memory is None else format_size(self.memory)),
            ("--disk", None if self.disk is None else format_size(self.disk)),
            ("--cpus", self.cpus),
            ("--wall-time", None if self.wall_time is None else format_time(self.wall_time)),
            *(("--on", node) for node in self.nodes),
            *(("--env", name) for name in self.environment),
            *(("--set", f"{name}={value}") for name, value in self.parameters.items()),
        ]
        told = [f"{option} {value}" for option, value in given if value is not None]
        return " ".join(told + (["--from-scratch"] if self.from_scratch else []))

    @property
    def wishes(self) -> dict[str, Any]:
        """What of it concerns the choice of a node."""
        import json

        given = {"memory": self.memory, "disk": self.disk, "cpus": self.cpus}
        wishes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        if self.nodes:
            wishes["nodes"] = json.dumps(list(self.nodes))
        return wishes


NO_CHANGES = Changes()


@dataclass(frozen=True, slots=True)
class Script:
    """What one binary of a package runs."""

    package: int
    seq: int
    script: str | None
    argv: str | None
    parameters: str | None


@dataclass(frozen=True, slots=True)
class Request:
    """A verb, what it is meant for, and what some verbs take besides (see `VERBS`)."""

    verb: str
    target: Selector
    drop_outputs: bool = False
    running: bool = False
    partial: bool = False
    hard: bool = False
    keep_results: bool = False
    priority: int | None = None
    status: str | None = None
    changes: Changes = NO_CHANGES
    scripts: tuple[Script, ...] = ()
    """Filled by the verb itself before it is planned."""


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
class Gainer:
    """A package that gets inputs back beside those it has; `waits` if one is not there."""

    path: str
    gained: int
    had: int
    waits: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """What a verb would do: changes, what it would unblock, and what would be lost.

    Lists name the first few; the numbers beside them count all. `seen` is the last thing
    that anybody had done when it was made, `undo` the command that takes it back.
    """

    request: Request
    grace: float | None = None
    """How many seconds binaries have to end by themselves, where their outputs are kept."""
    jobs: tuple[str, ...] = ()
    phases: Mapping[str, int] | None = None
    packages: int = 0
    changes: tuple[Change, ...] = ()
    kept: Mapping[str, int] | None = None
    also: int = 0
    also_dropped: tuple[Change, ...] = ()
    files: int = 0
    files_lost: tuple[str, ...] = ()
    bytes: int = 0
    weights: tuple[tuple[str, int | None], ...] = ()
    """Files that would be lost, the largest first, with their sizes."""
    losers: tuple[Loser, ...] = ()
    losing: int = 0
    starting: int = 0
    gainers: tuple[Gainer, ...] = ()
    gaining: int = 0
    launched: int = 0
    results: int = 0
    """How many files in results/ go with the jobs, or are moved aside."""
    accepting: int = 0
    """How many packages an attempt has to end that takes over outputs left on a node."""
    hopeless: Mapping[str, int] | None = None
    undo: str | None = None
    seen: int = 0

    @property
    def by_flag(self) -> bool:
        """Whether it changes a flag of whole jobs and no list of packages."""
        return bool(self.jobs)
