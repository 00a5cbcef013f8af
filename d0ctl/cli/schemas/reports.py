"""The documents of histories, reports, policies and checks."""

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from msgspec import Meta

from d0ctl.cli.schemas.jobs import Failure, SizeRange, Time, TimeRange
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


class FailedAttempt(Failure):
    """A failed attempt."""

    outcome: str


class Action(TypedDict):
    """What a person did, and the command that undoes it."""

    at: Time | None
    actor: str
    verb: str
    target: str
    reason: str | None
    packages: int
    undo: str | None


class Current(TypedDict):
    """The present state of a package, where its history ends."""

    phase: str
    actor: str | None
    note: str | None
    not_before: Time | None


class History(TypedDict):
    """Failures, actions of people, and of a package each change of its phase."""

    selector: str
    reasons: list[Reason]
    failures: list[FailedAttempt]
    events: list[Event]
    notes: list[Note]
    actions: list[Action]
    now: Current | None


class Sample(TypedDict):
    """One failure as an example."""

    path: str
    attempt: int
    reason: str | None
    message: str | None
    node: str


class Alike(TypedDict):
    """Failures that have something in common."""

    count: int
    packages: int
    cpu_hours: float
    last: Time | None
    sample: Sample


class ByReason(Alike):
    """Failures for one reason."""

    reason: str


class ByNode(Alike):
    """Failures on one node."""

    node: str


class BySoftware(Alike):
    """Failures of one software."""

    software: Annotated[str, Meta(description="`(no software)` for plain runs.")]


class ByInput(Alike):
    """Failures with one input."""

    input: str


class Blame(TypedDict):
    node: NotRequired[str]
    software: NotRequired[str]
    input: NotRequired[str]
    failed: int
    of: int
    others_failed: int
    others: int
    sentence: str  # fmt: skip


"""A likely cause: one of node, software and input."""


class Failures(TypedDict):
    """Failures by reason, node, software and input."""

    selector: str | None
    failures: int
    packages: int
    failed: Annotated[int, Meta(description="Attempts of packages that are failed now.")]
    tried_again: int
    cpu_hours: float
    blamed: list[Blame]
    by_reason: list[ByReason]
    by_node: list[ByNode]
    by_software: list[BySoftware]
    by_input: list[ByInput]


class Used(TypedDict):
    """What some attempts took."""

    attempts: Annotated[int, Meta(description="Ended ones; of software, runs of binaries.")]
    successful: int
    failed: Annotated[int, Meta(description="Failed or lost.")]
    success: Annotated[float | None, Meta(description="successful / (successful + failed).")]
    cpu_hours: float
    wasted_cpu_hours: Annotated[float, Meta(description="Of failed attempts.")]
    efficiency: Annotated[float | None, Meta(description="CPU time / (run time x CPUs).")]
    mean_wait: Annotated[
        float | None, Meta(description="Seconds from ready to started; null of software.")
    ]
    longest_wait: float | None
    per_hour: Annotated[
        float | None, Meta(description="Successful ones per hour, from the first to the last.")
    ]
    first: Time | None
    last: Time | None


class UsedByNode(Used):
    node: str


class UsedBySoftware(Used):
    software: Annotated[str, Meta(description="`(no software)` for plain runs.")]


class UsedByResearcher(Used):
    researcher: str


class UsedByJob(Used):
    job: str


class UsedByStage(Used):
    stage: Annotated[str, Meta(description="JOB/NUMBER NAME.")]


class UsageReport(TypedDict):
    """What ended attempts took, by node, software, researcher, job and stage."""

    selector: str | None
    since: Time | None
    total: Used
    by_node: NotRequired[list[UsedByNode]]
    by_software: NotRequired[list[UsedBySoftware]]
    by_researcher: NotRequired[list[UsedByResearcher]]
    by_job: NotRequired[list[UsedByJob]]
    by_stage: NotRequired[list[UsedByStage]]


class BytesAt(TypedDict):
    """Bytes in a cache from this time on."""

    at: Time
    bytes: int


class DiskProfile(TypedDict):
    """How full the cache of a cluster becomes in the next 24 hours."""

    cluster: str
    space: Annotated[int | None, Meta(description="Bytes that it holds; null: not known.")]
    used: int
    peak: int
    peak_at: Time
    full_at: Annotated[Time | None, Meta(description="When it will have more than it holds.")]
    profile: list[BytesAt]


class DiskReport(TypedDict):
    """How full caches become, by files that are there and planned."""

    caches: list[DiskProfile]


_Origin = Annotated[str, Meta(description="default, site, software NAME/VERSION, job or package.")]
Value = TypedDict("Value", {"value": Any, "from": _Origin})
"""A key of a rule; times in seconds, sizes in bytes."""


class Policy(TypedDict):
    """The rules for packages that have the same ones."""

    packages: int | None
    sample: str | None
    software: list[str]
    never: dict[str, Value]
    rules: dict[str, dict[str, Value]]


class Policies(TypedDict):
    """What d0ctl does after each failure, and which file says so."""

    selector: str | None
    policies: list[Policy]


class PolicyTrial(TypedDict):
    """What followed the failures for a reason, and what another policy says of them."""

    reason: str
    count: int
    happened: Annotated[dict[str, int], Meta(description="By retried, held and failed.")]
    would: dict[str, int]


class PolicyTrials(TypedDict):
    """What another policy says of recorded failures."""

    since: Annotated[float, Meta(description="How far back, in seconds.")]
    reasons: list[PolicyTrial]


class Check(TypedDict):
    """Whether production moves."""

    state: Annotated[str, Meta(description="moving, idle, failures or standstill.")]
    headline: str
    code: int
    cause: Annotated[
        str | None,
        Meta(
            description="no-daemon, no-node, no-node-up, held, paused, no-fitting-node, "
            "impossible, other-job or no-input."
        ),
    ]
    daemon: bool
    failed: int
    unfit: Annotated[int, Meta(description="Packages that no node can take.")]
    nodes: Annotated[dict[str, str], Meta(description="State by node.")]
    stopped: Annotated[dict[str, str | None], Meta(description="Cause by job.")]
    commands: list[str]


class Finding(TypedDict):
    """A broken rule."""

    check: str
    subject: str
    detail: str
    advice: str | None
    heals: Annotated[bool, Meta(description="The next `daemon start` repairs it.")]


class Doctor(TypedDict):
    """Whether database, home and nodes are as they must be."""

    ok: bool
    findings: list[Finding]
    nodes: Annotated[list[str], Meta(description="Checked nodes.")]
    unseen: Annotated[dict[str, str], Meta(description="Why others were not, by node.")]
    standstill: str | None


class OneMore(TypedDict):
    """How long it takes with one more node."""

    like: Annotated[str | None, Meta(description="The node that it is like.")]
    makespan: float | None


class NodeUse(TypedDict):
    """How busy a node is."""

    node: str
    use: Annotated[float, Meta(description="The part of its CPU time that computes, from 0 to 1.")]


class CachePeak(TypedDict):
    """How full a cache gets."""

    cluster: str
    peak: Annotated[int, Meta(description="The most bytes of files of the job at a time.")]


class RehearsedStage(TypedDict):
    """When the packages of a stage run, in seconds from the start of the job."""

    stage: str
    packages: int
    begins: float
    ends: float


class RehearsedFailures(TypedDict):
    """Failures of a rehearsal, as often as those of earlier attempts; times in seconds."""

    earlier_attempts: int
    tried_again: Annotated[dict[str, int], Meta(description="Attempts, by reason.")]
    failed_for_good: Annotated[dict[str, int], Meta(description="Packages, by reason.")]
    never_run: Annotated[int, Meta(description="Packages whose inputs are missing then.")]
    drained: Annotated[
        dict[str, int], Meta(description="How often nodes are drained because of failures.")
    ]
    excluded: Annotated[
        list[str], Meta(description="Nodes that packages leave out which failed there.")
    ]
    cpu_lost: float
    makespan_without: float


class Rehearsal(TypedDict):
    """A job on a virtual clock; times in seconds."""

    job: str
    packages: int
    makespan: float
    longest_chain: Annotated[float, Meta(description="Alone, on the fastest node.")]
    work: Annotated[float, Meta(description="All work on all CPUs.")]
    with_one_more: OneMore
    failures: RehearsedFailures
    bytes_carried: int
    nodes: list[NodeUse]
    caches: list[CachePeak]
    stages: list[RehearsedStage]


class StageEta(TypedDict):
    """What is left of a stage; seconds of CPU time of each package on a standard node."""

    stage: int
    left: Annotated[int, Meta(description="Packages that have not begun.")]
    runs: Annotated[int, Meta(description="Packages of this job that the estimate comes from.")]
    seconds: float | None
    seconds_low: float | None
    seconds_high: float | None
    memory: Annotated[SizeRange | None, Meta(description="Bytes of each package.")]
    output: SizeRange | None
    work_size: Annotated[
        SizeRange | None, Meta(description="Files that it removes again, at the peak.")
    ]


class Eta(TypedDict):
    """When a job ends; CPU seconds are those of a standard node."""

    job: str
    end: TimeRange | None
    cpu_left: float
    cpu_before: Annotated[float, Meta(description="Of jobs that come before it.")]
    longest_chain: float
    stages: list[StageEta]


class Audited(TypedDict):
    """How estimates compare with actual values, in seconds or in bytes of memory and disk.

    Memory and disk are compared with the reserved bytes; the mean of all.
    """

    kind: Literal["job", "stage", "memory", "disk"]
    name: str
    number: int
    expected: float
    happened: float
    off_by: Annotated[float | None, Meta(description="The median factor, at least 1.")]
    within: Annotated[int, Meta(description="How many were within the range of the estimate.")]


class Audit(TypedDict):
    """Estimates of jobs and packages that have ended."""

    estimates: list[Audited]
