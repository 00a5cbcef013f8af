"""The terms of d0ctl: statuses, phases and reasons, and how counts roll up to a status."""

import enum
from collections.abc import Mapping
from typing import NamedTuple

from msgspec import Struct

ACTOR = "d0ctl"
"""The actor, in statuses and histories, of what d0ctl does by itself."""


class Status(enum.StrEnum):
    """Status of a package (D0 Job Definition, section 2)."""

    UNSCHEDULED = "unscheduled"
    SCHEDULED = "scheduled"
    LAUNCHED = "launched"
    SUCCESSFUL = "successful"
    FAILED = "failed"
    CANCELED = "canceled"


class Group(enum.StrEnum):
    """Status of a line, stage or job, from those of its packages (Ganga, status transitions)."""

    SUBMITTED = "submitted"
    RUNNING = "running"
    FAILED = "failed"
    SUCCESSFUL = "successful"
    CANCELED = "canceled"


class Phase(enum.StrEnum):
    """The exact state of a package; each phase belongs to one status."""

    WAITING = "waiting"
    READY = "ready"
    COOLOFF = "cooloff"
    HELD = "held"
    ASSIGNED = "assigned"
    STARTING = "starting"
    STAGING_IN = "staging-in"
    RUNNING = "running"
    SUSPENDED = "suspended"
    KILLING = "killing"
    UNREACHABLE = "unreachable"
    TRANSFERRING = "transferring"
    DONE = "done"
    FAILED = "failed"
    CANCELED = "canceled"
    DROPPED = "dropped"


STATUS_OF: Mapping[Phase, Status] = {
    Phase.WAITING: Status.UNSCHEDULED,
    Phase.READY: Status.UNSCHEDULED,
    Phase.COOLOFF: Status.UNSCHEDULED,
    Phase.HELD: Status.UNSCHEDULED,
    Phase.ASSIGNED: Status.SCHEDULED,
    Phase.STARTING: Status.LAUNCHED,
    Phase.STAGING_IN: Status.LAUNCHED,
    Phase.RUNNING: Status.LAUNCHED,
    Phase.SUSPENDED: Status.LAUNCHED,
    Phase.KILLING: Status.LAUNCHED,
    Phase.UNREACHABLE: Status.LAUNCHED,
    Phase.TRANSFERRING: Status.LAUNCHED,
    Phase.DONE: Status.SUCCESSFUL,
    Phase.FAILED: Status.FAILED,
    Phase.CANCELED: Status.CANCELED,
    Phase.DROPPED: Status.CANCELED,
}
"""The status that each phase belongs to."""


def phase_word(phase: str | None) -> str:
    """Return the word for a package's phase on all screens: no state has two."""
    return Status.SUCCESSFUL if phase == Phase.DONE else phase or ""


LIVE = tuple(phase for phase, status in STATUS_OF.items() if status is Status.LAUNCHED)
"""The phases of launched packages."""

MOVING = frozenset({Phase.READY, Phase.COOLOFF, Phase.HELD}) | {
    phase for phase, status in STATUS_OF.items() if status in (Status.SCHEDULED, Status.LAUNCHED)
}
"""Phases that a package can leave without a change of the things it waits for."""


class Reason(enum.StrEnum):
    """Why an attempt failed; a site adds its own as `site:NAME`."""

    PLATFORM_FAILURE = "platform-failure"
    LOOPING = "looping"
    SEG_FAULT = "seg-fault"
    SIGNAL = "signal"
    EXIT_CODE = "exit-code"
    MISSING_OUTPUT = "missing-output"
    VERIFICATION = "verification"
    LOG_MESSAGE = "log-message"
    OUT_OF_MEMORY = "out-of-memory"
    DISK_FULL = "disk-full"
    WALL_TIME = "wall-time"
    MISSING_INPUT = "missing-input"
    NO_INPUTS = "no-inputs"
    STAGE_IN = "stage-in"
    STAGE_OUT = "stage-out"
    SOFTWARE_MISSING = "software-missing"
    HOOK = "hook"
    LAUNCH_FAILED = "launch-failed"
    LOST = "lost"
    KILLED = "killed"


Counts = Mapping[str, int]
"""How many packages are in each phase; missing phases have none."""


def by_status(counts: Counts) -> dict[str, int]:
    """Return the number of packages in each of the six statuses."""
    totals = {status.value: 0 for status in Status}
    for phase, number in counts.items():
        totals[STATUS_OF[Phase(phase)].value] += number
    return totals


def roll_up(counts: Counts, *, blocked: bool = False) -> Group:
    """Return the status of a line, stage or job with these counts.

    The rules are Ganga's with the first two swapped, and a canceled package prevents
    success unless it was dropped on purpose. `blocked` means that its waiting packages wait for
    something that will never come.
    """
    totals = by_status(counts)
    unscheduled = totals["unscheduled"] - (counts.get("waiting", 0) if blocked else 0)
    if totals["launched"]:
        return Group.RUNNING
    if totals["scheduled"] or unscheduled:
        return Group.SUBMITTED
    if totals["failed"] or (blocked and counts.get("waiting", 0)):
        return Group.FAILED
    if totals["successful"] and not counts.get("canceled"):
        return Group.SUCCESSFUL
    return Group.CANCELED


def without(counts: Counts, others: Counts) -> Counts:
    """Return the counts without others that are a part of them."""
    return {phase: n - others.get(phase, 0) for phase, n in counts.items()}


def job_status(counts: Counts, final: Counts, *, blocked: bool = False) -> Group:
    """Return the status of a job; once it can't move, its final stages do not count.

    The job of a task has no packages at first.
    """
    if not any(counts.values()):
        return Group.SUBMITTED
    whole = roll_up(counts, blocked=blocked)
    if not final or whole in (Group.RUNNING, Group.SUBMITTED):
        return whole
    return roll_up(without(counts, final), blocked=blocked)


def can_move(counts: Counts) -> bool:
    """Return whether any of these packages is launched, scheduled, ready, cooling off or held."""
    return any(counts.get(phase, 0) for phase in MOVING)


STANDING = frozenset({Phase.SUSPENDED, Phase.UNREACHABLE, Phase.KILLING})
"""Phases without progress, or without news of any."""


def known_eta(phase: str, eta: float | None, now: float) -> float | None:
    """Return when a package is expected to end; None if it makes no progress, or is overdue."""
    return None if eta is None or eta <= now or phase in STANDING else eta


class Processors(NamedTuple):
    """How many CPUs and GPUs of a node d0ctl may use, as people say; None for all that it has."""

    cpus: int | None = None
    gpus: int | None = None


ALL_PROCESSORS = Processors()

DIRECT = "direct"
"""In place of a job: the node is a batch system, in which each package has a job of its own."""

CANNOT_RUN = "can't run the relay"
"""The error of a node on which no python runs the relay says this."""

OTHER_DAEMON = "another daemon of this site drives it: "
"""How the error of a node begins before the host and home of that daemon."""

NEWER_HOME = "a home of this site that was restored later has driven it since: "
"""How the error of a node begins before the host and path of that home."""


class Address(Struct, frozen=True):
    """How a node is reached.

    `destination` is `[user@]host[:port]` as for OpenSSH, empty for a node of kind `local`; a node
    with a `job` is an allocation of the batch system `kind`, reached through the host that it
    names, or through this machine. `directory`, `python` and `identity` are empty if not requested.
    """

    name: str
    kind: str = "ssh"
    destination: str = ""
    identity: str = ""
    directory: str = ""
    python: str = ""
    via: str = "auto"
    job: str = ""
    """The job of a batch system in whose allocation the node is, or `DIRECT`."""


class Node(Struct, frozen=True):
    """A node, with how many packages are launched and assigned on it if they were counted."""

    id: int
    name: str
    cluster_id: int
    applied: int
    kind: str
    via: str
    destination: str
    identity: str
    directory: str
    python: str
    job: str
    cpus: int
    cpus_asked: int | None
    memory: int | None
    memory_asked: int | None
    gpus: int
    gpus_asked: int | None
    platform: str | None
    platform_asked: str | None
    services: str
    speed_asked: float | None
    speed_measured: float | None
    measured: float | None
    speed: float
    state: str
    since: float | None
    contact: float | None
    last_error: str | None
    next_try: float | None
    machine: str | None
    boot: str | None
    base: str | None
    facts: str
    clock: float
    load: float | None
    surveyed: float | None
    doubted: float | None
    drained: int
    drain_note: str | None
    drained_at: float | None
    cluster: str
    launched: int = 0
    assigned: int = 0


class NodeCapacity(Struct, frozen=True):
    """A node and its resources as the scheduler counts them; `disk_spare` is above the reserve."""

    id: int
    name: str
    cluster: int
    cpus: int
    memory: int | None
    gpus: int
    platform: str | None
    services: str
    cluster_services: str
    state: str
    since: float | None
    drained: int
    drain_note: str | None
    last_error: str | None
    speed: float
    ends: float | None
    is_for_long: int
    batch: str | None
    used: float
    memory_used: int
    gpus_used: int
    disk_used: int
    disk: int | None
    disk_free: int | None
    disk_in_use: int | None
    disk_spare: int | None
    disk_short: int
    disk_reserve: int
    cache: int | None
    """The capacity of its cache, if that has no more free space than the disk."""
