"""The documents of files, nodes, software, mail, the daemon, and submitted jobs."""

from typing import Annotated, NotRequired, TypedDict

from msgspec import Meta

from d0ctl.cli.schemas.jobs import SizeRange, Time, TimeRange


class Copy(TypedDict):
    """Where a copy of a file is."""

    cluster: str | None
    node: str | None
    path: str | None


class File(TypedDict):
    """A file that packages read or make."""

    file: str
    job: str
    name: str
    maker: str | None
    present: bool
    partial: bool
    dropped: bool
    size: int | None
    checksum: str | None
    disposition: str
    given: Annotated[str | None, Meta(description="The disposition that a person set.")]
    result: bool
    stored: list[str]
    locator: Annotated[str | None, Meta(description="Of a file from outside.")]
    copies: list[Copy]


class Files(TypedDict):
    """The files of a selector."""

    files: list[File]
    total: int
    bytes: Annotated[int, Meta(description="Of those that are present.")]


class Others(TypedDict):
    """The record of packages of the same stage on other nodes."""

    successful: int
    failed: int


class Burnt(TypedDict):
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
    used: float
    free: int
    launched: int
    assigned: int
    memory: int | None
    platform: str | None
    speed: Annotated[float, Meta(description="Of one CPU, compared with a standard node.")]
    speed_measured: Annotated[float | None, Meta(description="By `node benchmark`.")]
    burnt: Burnt | None


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


class ClusterCheck(TypedDict):
    """Problems of a batch system, and of the machine of the job that tested it."""

    cluster: str
    ok: bool
    findings: list[NodeFinding]


class Software(TypedDict):
    """An entry of the catalogue."""

    name: str
    version: str
    platform: str | None
    script: str | None
    archive: str | None
    size: int | None
    checksum: str | None
    manifest: str | None
    needs: list[str]
    runtime: float | None


class Catalogue(TypedDict):
    """The software catalogue."""

    software: list[Software]


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
    since: str | None
    retry: Annotated[str | None, Meta(description="When pilots are submitted again.")]


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


class Researcher(TypedDict):
    """A researcher with jobs and clusters."""

    researcher: str
    mail: str | None
    clusters: Annotated[list[str], Meta(description="Private ones.")]
    jobs: int
    shares: Annotated[list[str], Meta(description="Shares that take the jobs.")]


class Researchers(TypedDict):
    """All researchers of the site file, and other originators of jobs."""

    researchers: list[Researcher]


class Store(TypedDict):
    """A store of the site, its kind and what it can do."""

    store: str
    kind: str
    place: Annotated[str | None, Meta(description="Null for a store of commands.")]
    verbs: list[str]


class Stores(TypedDict):
    """All stores of the site file."""

    stores: list[Store]


class Located(TypedDict):
    """Where a file in a store is, as its command printed."""

    locator: str
    location: str


class SoftwareOrder(TypedDict):
    """The result of an order to a node; `ok` is null until it is done."""

    node: str
    verb: str
    platform: str | None
    ok: bool | None
    message: str | None
    faults: list[str]


class SoftwareOrders(TypedDict):
    """The result of an order on each node."""

    software: str
    nodes: list[SoftwareOrder]


class LastOrder(TypedDict):
    """The last order about a version on a node; `ok` is null until it is done."""

    verb: str
    by: str
    asked: Time | None
    ended: Time | None
    ok: bool | None
    message: str | None


class SoftwarePlace(TypedDict):
    """A version on a node."""

    software: str
    node: str
    cluster: str
    platform: str | None
    copied: Annotated[Time | None, Meta(description="When its archive was copied there.")]
    last_order: LastOrder | None
    jobs: Annotated[list[str], Meta(description="Jobs that use it and had packages there.")]


class SoftwarePlaces(TypedDict):
    """Where each version is."""

    software: list[SoftwarePlace]


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


class SiteDifference(TypedDict):
    """One thing that a site file would add, change or remove."""

    verb: str
    kind: str
    name: str
    keys: list[str]


class SiteDifferences(TypedDict):
    """What `site apply` would change."""

    changes: list[SiteDifference]


class SiteCheck(TypedDict):
    """What a site file has."""

    nodes: int
    clusters: int
    software: int
    settings: list[str]
    warnings: list[str]


class Waiting(TypedDict):
    """Mail that is not written yet."""

    recipient: str
    things: int
    due: Time | None


class Mail(TypedDict):
    """A message."""

    message: int
    recipient: str
    title: str
    made: Time | None
    tries: int
    trouble: str | None


class MailOnWay(Mail):
    """A message that is not sent yet."""

    next_try: Time | None


class MailEnded(Mail):
    """A message that was sent, or given up."""

    ended: Time | None
    sent: bool


class MailQueue(TypedDict):
    """Mail and notifications."""

    mail: Annotated[str | None, Meta(description="The mail server.")]
    command: list[str] | None
    notifier: Annotated[str | None, Meta(description="The plug-in that gets each event.")]
    waiting: list[Waiting]
    on_way: list[MailOnWay]
    last: list[MailEnded]


class Unsent(TypedDict):
    """Notifications that could not be sent."""

    messages: int
    since: Time | None
    trouble: str | None


class Daemon(TypedDict):
    """Whether the daemon runs."""

    running: bool
    pid: int | None
    since: Time | None
    unsent: Unsent | None


class Valid(TypedDict):
    """A job file without faults."""

    job: str
    packages: int
    stages: list[str]
    warnings: list[str]


class NoNode(TypedDict):
    """A stage that no node can take yet, with the reason by node."""

    stage: str
    nodes: dict[str, str]


class StageSizes(TypedDict):
    """The expected needs of a package of a stage, in bytes."""

    stage: int
    memory: SizeRange | None
    output: SizeRange | None
    work_size: Annotated[
        SizeRange | None, Meta(description="Files that it removes again, at the peak.")
    ]


class Submitted(TypedDict):
    """A job that was submitted, or would be."""

    job: str
    packages: int
    no_node: NotRequired[list[NoNode]]
    estimated_end: NotRequired[TimeRange | None]
    sizes: NotRequired[list[StageSizes]]
    dry_run: NotRequired[bool]


class Parameter(TypedDict):
    """A parameter of a template."""

    parameter: str
    type: str
    help: str
    default: str | None
    one_of: list[str]


class Template(TypedDict):
    """A job file to start from."""

    template: str
    about: str
    file: str
    parameters: list[Parameter]


class Templates(TypedDict):
    """All templates."""

    templates: list[Template]


class Plugin(TypedDict):
    """A part that another installed package adds."""

    kind: str
    name: str
    package: str
    version: str
    object: Annotated[str, Meta(description="Its entry point, as `module:object`.")]
    problem: Annotated[str | None, Meta(description="Why it can't be used.")]


class Plugins(TypedDict):
    """The installed plug-ins."""

    plugins: list[Plugin]
