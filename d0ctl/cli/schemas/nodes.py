"""The documents of nodes, clusters and throttles."""

from typing import Annotated, TypedDict

from msgspec import Meta

from d0ctl.cli.schemas.jobs import Time
from d0ctl.show.usage.top_page import NodeUse, PackageUse


class Others(TypedDict):
    """The record of packages of the same stage on other nodes."""

    successful: int
    failed: int


class DrainingFailures(TypedDict):
    """The failures for which d0ctl drained a node."""

    since: Time | None
    evidence: str
    stage: str
    packages: list[str]
    reasons: dict[str, int]
    others: Others
    rests: int
    next_try: Time | None
    canary: str | None


class Node(TypedDict):
    """A machine."""

    node: str
    kind: str
    destination: str | None
    cluster: str
    state: str
    since: Time | None
    contact: Time | None
    trouble: str | None
    drained: bool
    drain_note: str | None
    cpus: int
    used: Annotated[float, Meta(description="CPUs given to packages, running or not.")]
    free: int
    running: Annotated[float, Meta(description="CPUs of packages that run: slots in use.")]
    next: Annotated[int, Meta(description="Packages that wait there for a slot.")]
    staging: Annotated[int, Meta(description="Packages that wait there for inputs.")]
    launched: int
    assigned: int
    memory: int | None
    gpus: int
    platform: str | None
    speed: Annotated[float, Meta(description="Of one CPU, compared with a standard node.")]
    speed_measured: Annotated[float | None, Meta(description="By `node benchmark`.")]
    burnt: DrainingFailures | None


class Nodes(TypedDict):
    """All nodes."""

    nodes: list[Node]


class NodeFinding(TypedDict):
    """One thing that was checked on a node; `ok` is null for a fact."""

    ok: bool | None
    what: str
    detail: str
    advice: str | None


class NodeCheck(TypedDict):
    """What is wrong with a node."""

    node: str
    ok: bool
    findings: list[NodeFinding]


class NodeChecks(TypedDict):
    """What is wrong with nodes."""

    ok: bool
    nodes: list[NodeCheck]


class ClusterCheck(TypedDict):
    """Problems of a batch system, and of the machine of the job that tested it."""

    cluster: str
    ok: bool
    findings: list[NodeFinding]


class Pilot(TypedDict):
    """An allocation of a batch system, in which a node is while it runs."""

    pilot: int
    job: Annotated[str | None, Meta(description="Of the batch system, once it is known.")]
    state: str
    reason: Annotated[str | None, Meta(description="Why it waits, as the batch system says.")]
    node: str | None
    ends: Time | None


class BatchFault(TypedDict):
    """A request to a batch system that failed, or pilots that end at once."""

    what: Annotated[str, Meta(description="submit, queue or pilot.")]
    text: str
    since: Time | None
    retry: Annotated[Time | None, Meta(description="When pilots are submitted again.")]


class Cluster(TypedDict):
    """Nodes that share a cache."""

    cluster: str
    platform: str | None
    platform_description: Annotated[str | None, Meta(description="By the site file.")]
    nodes: list[str]
    private: bool
    researchers: Annotated[list[str], Meta(description="Who may use it, if it is private.")]
    capacity: int | None
    software_share: float
    cached: Annotated[int | None, Meta(description="Bytes of files, if it has a capacity.")]
    software: Annotated[list[str], Meta(description="What d0ctl has brought or verified there.")]
    fault: Annotated[BatchFault | None, Meta(description="Why a batch system brings no pilots.")]
    pilots: Annotated[list[Pilot] | None, Meta(description="Of a batch system.")]


class Clusters(TypedDict):
    """All clusters."""

    clusters: list[Cluster]


class Throttled(TypedDict):
    """A node, researcher or job that a throttle limits."""

    name: str
    running: int
    launched: Annotated[int, Meta(description="Packages sent to nodes in the time of `per`.")]


class Throttle(TypedDict):
    """A limit of nodes, researchers or jobs."""

    throttle: str
    max_running: int | None
    max_launches: int | None
    per: Annotated[float | None, Meta(description="Seconds in which launches are counted.")]
    in_use: list[Throttled]


class Throttles(TypedDict):
    """All throttles."""

    throttles: list[Throttle]


class NodeSample(TypedDict):
    """The use of a node at a time."""

    at: Time
    load: float | None
    rss: Annotated[int | None, Meta(description="Bytes of memory of its packages.")]
    disk_free: Annotated[
        int | None, Meta(description="Below 0 if its cache exceeds the capacity of the cluster.")
    ]
    disk_in_use: Annotated[int | None, Meta(description="With a capacity: by known files.")]


class PackageSample(TypedDict):
    """What a package had used at a time."""

    at: Time
    cpu: Annotated[float, Meta(description="Seconds of CPU time since its start.")]
    rss: Annotated[int, Meta(description="Bytes of memory.")]


class Samples(TypedDict):
    """The use over time of nodes by name, and of packages on nodes by path."""

    nodes: dict[str, list[NodeSample]]
    packages: dict[str, list[PackageSample]]


class Top(TypedDict):
    """Nodes and packages by use; cores are CPU time by run time, null if not reported."""

    nodes: list[NodeUse]
    packages: list[PackageUse]
    samples: Annotated[Samples | None, Meta(description="Since the time of --since.")]
