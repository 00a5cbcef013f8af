"""The documents of estimates and of rehearsals."""

from typing import Annotated, Literal, TypedDict

from msgspec import Meta

from d0ctl.cli.schemas.jobs import SizeRange, TimeRange, WaitsForNodes


class OneMoreNode(TypedDict):
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
    with_one_more: OneMoreNode
    no_room: Annotated[
        int, Meta(description="Ready packages for whose files no cache has room at the end.")
    ]
    failures: RehearsedFailures
    bytes_carried: int
    nodes: list[NodeUse]
    caches: list[CachePeak]
    stages: list[RehearsedStage]


class StageEta(TypedDict):
    """What is left of a stage; seconds of run time x CPUs of each package on a standard node."""

    stage: int
    left: Annotated[int, Meta(description="Packages that have not begun.")]
    runs: Annotated[int, Meta(description="Packages of this job that the estimate comes from.")]
    end: TimeRange | None
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
    waits_for_nodes: WaitsForNodes
    cpu_left: float
    cpu_before: Annotated[float, Meta(description="Of jobs that come before it.")]
    longest_chain: float
    stages: list[StageEta]


class JobEnd(TypedDict):
    """When an active job ends."""

    job: str
    state: Annotated[str, Meta(description="As in `status`: running, held, paused or another.")]
    end: Annotated[TimeRange | None, Meta(description="Unknown if null.")]
    waits_for_nodes: WaitsForNodes


class Ends(TypedDict):
    """When all active jobs end, the newest first."""

    jobs: list[JobEnd]


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
