"""The documents of a history and of a timeline."""

from typing import Annotated, Literal, TypedDict

from msgspec import Meta

from d0ctl.cli.schemas.jobs import AttemptFailure, Time
from d0ctl.cli.schemas.packages import Note

Event = TypedDict(
    "Event",
    {
        "at": Time | None, "from": str, "to": str, "attempt": int | None, "node": str | None,
        "actor": str | None, "note": str | None,
    },
)  # fmt: skip
"""One change of phase."""


class Reason(TypedDict):
    """How often something failed for a reason, and on how many nodes."""

    reason: str | None
    count: int
    nodes: int
    last: Time | None


class FailedAttempt(AttemptFailure):
    """A failed attempt; `recorded` is later than its end if its node was down then."""

    outcome: str
    recorded: Time | None


class Action(TypedDict):
    """What a person did, and the command that undoes it."""

    at: Time | None
    actor: str
    verb: str
    target: str
    reason: str | None
    packages: int
    undo: str | None


class JobFailures(TypedDict):
    """Attempts of a job that failed for a reason; `failed` of their packages have failed now.

    Of these failures `acknowledged` ones need nobody any more. `failed_again` of the packages have
    failed now by a later attempt, for another reason or on another node.
    `last` is when the last one ended; `recorded` is later if its node was down then.
    """

    job: str
    reason: str | None
    count: int
    packages: int
    failed: int
    failed_again: int
    acknowledged: int
    nodes: int
    last: Time | None
    recorded: Time | None
    message: str | None


class Outage(TypedDict):
    """When a node was `down` or its disk `full`; `became` is its state afterwards: `up`, `unknown`
    or `removed`.
    """

    node: str
    kind: Literal["down", "full"]
    began: Time | None
    ended: Time | None
    became: str | None
    error: str | None


class EndedJob(TypedDict):
    """When a job ended and how; `left` of its packages had not succeeded, `failed` of these had
    failed, `dropped` of its lines were left out.
    """

    job: str
    at: Time | None
    status: str
    left: int
    failed: int
    dropped: int


class Logbook(TypedDict):
    """Of all or a node: actions of people and d0ctl, ends of jobs, outages, failures by job."""

    since: Time | None
    actions: list[Action]
    jobs: list[EndedJob]
    outages: list[Outage]
    failures: list[JobFailures]


class Current(TypedDict):
    """The present state of a package, where its history ends."""

    phase: str
    actor: str | None
    note: str | None
    not_before: Time | None


class History(TypedDict):
    """Failures, actions of people, of a job its ends, and of a package each change of its phase."""

    selector: str
    reasons: list[Reason]
    failures: list[FailedAttempt]
    events: list[Event]
    notes: list[Note]
    actions: list[Action]
    ends: list[EndedJob]
    now: Current | None


class FailedLog(TypedDict):
    """The end of the log of a failed package, and other packages whose log is the same.

    Logs that differ only in numbers are the same. `stream` is `stderr`, or `stdout` if nothing was
    printed there; `trouble` says why a log can't be read.
    """

    path: str
    attempt: int
    ended: Time | None
    node: str
    binary: int | None
    message: str | None
    exit_code: int | None
    signal: int | None
    stream: str | None
    lines: list[str]
    trouble: str | None
    packages: int
    alike: list[str]


class FailedLogsOfReason(TypedDict):
    """The logs of packages that failed for a reason."""

    reason: str
    packages: int
    logs: list[FailedLog]


class FailedLogs(TypedDict):
    """The ends of the logs of failed packages, by reason."""

    selector: str
    failed: int
    reasons: list[FailedLogsOfReason]


class TimelineAttempt(TypedDict):
    """An attempt on its node; without an end it is still going on, as far as is known."""

    path: str
    node: str
    launched: Time | None
    started: Time | None
    ended: Time | None
    outcome: str | None
    reason: str | None
    contact_lost: Annotated[Time | None, Meta(description="It takes no slot since: end unknown.")]
    straggler: Annotated[bool, Meta(description="It runs, or ran, much longer than its stage.")]
    run_time: Annotated[
        float | None, Meta(description="Seconds, so far if it runs; null if not known.")
    ]


class TimelineRow(TypedDict):
    """A slot of a node, or a line of a job, with its attempts by launch."""

    row: Annotated[str, Meta(description="The node, or STAGE/LINE.")]
    slot: Annotated[int | None, Meta(description="The number of the slot; null for a line.")]
    attempts: list[TimelineAttempt]


class Timeline(TypedDict):
    """When and where the last attempts ran, from the first launch to the last end, or now."""

    job: str | None
    begin: Time | None
    end: Time | None
    rows: list[TimelineRow]
