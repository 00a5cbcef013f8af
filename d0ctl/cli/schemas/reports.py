"""The documents of failures, usage, disks, policies and checks."""

from typing import Annotated, Any, NotRequired, TypedDict

from msgspec import Meta

from d0ctl.cli.schemas.jobs import Acknowledgement, Time

Acknowledged = Annotated[int, Meta(description="Packages whose failure is acknowledged.")]


class Sample(TypedDict):
    """One failure as an example."""

    path: str
    attempt: int
    reason: str | None
    message: str | None
    node: str
    acknowledged: Acknowledgement | None


class Alike(TypedDict):
    """Failures that have something in common."""

    count: int
    packages: int
    acknowledged: Acknowledged
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
    failed: Annotated[int, Meta(description="Packages that are failed now.")]
    cooling_off: int
    tried_again: int
    acknowledged: Acknowledged
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
    mean_run: Annotated[float | None, Meta(description="Seconds that successful ones ran.")]
    shortest_run: float | None
    longest_run: float | None
    reserved_cpu_hours: Annotated[float, Meta(description="Run time x CPUs.")]
    cpu_hours: float
    wasted_cpu_hours: Annotated[float, Meta(description="Of failed attempts.")]
    efficiency: Annotated[float | None, Meta(description="CPU time / reserved time.")]
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


class UsedByPackage(Used):
    package: Annotated[
        str, Meta(description="JOB/STAGE/*/NUMBER NAME: this package of all lines of a stage.")
    ]


class FailuresByReason(TypedDict):
    """How many attempts failed for a reason."""

    reason: str
    count: int


class UsageReport(TypedDict):
    """What ended attempts took, by node, software, researcher, job, stage and package."""

    selector: str | None
    since: Time | None
    total: Used
    failures: list[FailuresByReason]
    by_node: NotRequired[list[UsedByNode]]
    by_software: NotRequired[list[UsedBySoftware]]
    by_researcher: NotRequired[list[UsedByResearcher]]
    by_job: NotRequired[list[UsedByJob]]
    by_stage: NotRequired[list[UsedByStage]]
    by_package: NotRequired[list[UsedByPackage]]


class BytesAt(TypedDict):
    """Bytes in a cache from this time on."""

    at: Time
    bytes: int


class DiskProfile(TypedDict):
    """How full the cache of a cluster becomes in the next 24 hours."""

    cluster: str
    space: Annotated[int | None, Meta(description="Bytes of its capacity or disk, if known.")]
    holds: Annotated[int | None, Meta(description="Fewer if its disk has less free space.")]
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
            description="no-daemon, other-run, no-node, no-node-up, suspended, held, paused, "
            "no-fitting-node, impossible, no-space, other-job, no-input or no-copy; of a job also "
            "next-try."
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
    service: Annotated[str | None, Meta(description="What starts the daemon after a reboot.")]


class Explanation(TypedDict):
    """Why something is in its state: an answer, the facts behind it, and commands to type."""

    path: str
    status: str
    answer: str
    phase: str | None
    facts: list[str]
    stderr: str | None
    commands: list[str]
    details: Annotated[dict[str, Any], Meta(description="The facts for scripts; times in seconds.")]
