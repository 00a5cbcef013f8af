"""The records in which jobs, stages, lines and packages are shown."""

from shlex import quote
from typing import Any

from msgspec import Struct

from d0ctl.model import ACTOR, Counts, Group, job_status, roll_up


class JobSummary(Struct, frozen=True):
    """A job with its counts."""

    id: int
    name: str
    title: str
    originator: str
    priority: int
    hold: int
    hold_actor: str | None
    hold_note: str | None
    hold_since: float | None
    pause: int
    pause_running: int
    pause_actor: str | None
    pause_note: str | None
    pause_since: float | None
    pause_until: float | None
    finish: str | None
    finish_actor: str | None
    finish_note: str | None
    finish_since: float | None
    submitted: float
    ended: float | None
    max_running: int | None
    max_failures: int | None
    counts: Counts
    blocked: bool
    final: Counts
    """The counts of its final stages."""
    acknowledged: int = 0
    """How many of its failed packages need nobody any more."""
    is_outdated: int = 0
    """Whether successful packages of it are out of date; 0 where nobody asked."""
    went_on: int = 0
    """Whether it had ended before."""
    has_paused_task: int = 0
    """Whether its task is paused, and it with that."""

    @property
    def status(self) -> Group:
        """Its status, a function of the counts alone."""
        return job_status(self.counts, self.final, blocked=self.blocked)

    @property
    def is_open(self) -> bool:
        """Whether it has not ended; a daemon records that only after its last package."""
        return self.ended is None and self.status in (Group.SUBMITTED, Group.RUNNING)

    @property
    def packages(self) -> int:
        """How many packages it has."""
        return sum(self.counts.values())

    @property
    def resume(self) -> str:
        """The command that resumes it after a pause, with its task if that is paused."""
        return f"d0ctl {'task ' * bool(self.has_paused_task)}resume {quote(self.name)}"

    @property
    def is_held_by_d0ctl(self) -> bool:
        """Whether d0ctl holds it, for its failures or a fault; `why` says what helps."""
        return bool(self.hold) and self.hold_actor == ACTOR


class JobSettings(Struct, frozen=True):
    """The job file's settings for a job as a whole, besides its summary."""

    mail: str | None
    most_alike: int | None
    parameters: dict[str, Any]
    policy: dict[str, Any]


class StageSummary(Struct, frozen=True):
    """A stage with its counts."""

    id: int
    seq: int
    name: str
    require: float
    lines: int
    max_running: int | None
    final: int
    counts: Counts
    blocked: bool
    acknowledged: int = 0

    @property
    def status(self) -> Group:
        """Its status, a function of the counts alone."""
        return roll_up(self.counts, blocked=self.blocked)


class LineSummary(Struct, frozen=True):
    """A line with the counts of its packages."""

    id: int
    seq: int
    name: str
    early_start: int
    dropped: float | None
    named: int
    counts: Counts
    blocked: bool
    acknowledged: int = 0

    @property
    def status(self) -> Group:
        """Its status, a function of the counts alone."""
        return roll_up(self.counts, blocked=self.blocked)


class PackageRow(Struct, frozen=True):
    """A package in a list, with its last attempt."""

    id: int
    path: str
    name: str
    phase: str
    status: str
    node: str | None
    request: str | None
    attempts: int
    note: str | None
    changed: float
    started: float | None
    ended: float | None
    reason: str | None
    message: str | None
    percent: float | None
    eta: float | None
    line: str | None
    acknowledged: str | None
    """Who has acknowledged its failure."""
    acknowledged_at: float | None
    acknowledged_because: str | None
    measured: float | None
    """When its last attempt ended; of a running one, when it reported the following."""
    cpu: float | None
    rss: int | None
    last_heard: float | None = None
    """When nodes were heard last, if no process drives packages: a launched one ran until then."""
    line_name: str | None = None
    """The name of its line; None in lists of one line or stage."""


class OnlyPackage(PackageRow, frozen=True, kw_only=True):
    """The package of a line with just one: one row shows both."""

    line_id: int
    line_seq: int
    line_name: str
    dropped: float | None


class FailureView(Struct, frozen=True):
    """A failed package, with the attempt that says why."""

    path: str
    name: str
    number: int
    ended: float
    reason: str | None
    message: str | None
    exit_code: int | None
    signal: int | None
    node_name: str
    binary: int | None
    stderr: str | None
    acknowledged: str | None
    acknowledged_at: float | None
    acknowledged_because: str | None


class ActionView(Struct, frozen=True):
    """An action of a person."""

    at: float
    actor: str
    verb: str
    target: str
    note: str | None
    packages: int
    undo: str | None


class Exclusion(Struct, frozen=True):
    """A node that a job excludes, and its attempts there; `lost` of the failed ones were lost.

    With `has_others` another node takes packages.
    """

    name: str
    successful: int
    failed: int
    lost: int
    has_others: int
