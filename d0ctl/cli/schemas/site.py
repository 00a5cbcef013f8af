"""The documents of files, stores, the site, mail, the daemon, and submitted jobs."""

from typing import Annotated, Literal, NotRequired, TypedDict

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


class Token(TypedDict):
    """A token of the REST interface."""

    token: str
    role: Literal["reader", "operator", "admin"]
    by: Annotated[str, Meta(description="Who made it.")]
    made: Time


class Tokens(TypedDict):
    """All tokens of the REST interface."""

    tokens: list[Token]


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
    webhook: Annotated[str | None, Meta(description="The URL of each event, or the file with it.")]
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
    service: Annotated[str | None, Meta(description="What starts it after a reboot.")]
    outdated: Annotated[bool, Meta(description="d0ctl was installed again since it started.")]


class PlannedInputs(TypedDict):
    """Files that a line would read from one place: a stage, another job, or elsewhere."""

    kind: Literal["stage", "job", "here", "locator", "node", "self"]
    name: str
    files: list[str]


class PlannedLine(TypedDict):
    """A line with the files that it would read and make."""

    path: str
    name: str
    packages: int
    reads: list[PlannedInputs]
    makes: list[str]
    after: list[str]


class PlannedStage(TypedDict):
    """A stage as it would run: `nodes` have the reason why they can never take its packages."""

    number: int
    name: str
    packages: int
    change: Literal["split", "merge", "open"] | None
    after: list[str]
    final: bool
    results: int
    nodes: dict[str, str | None]
    seconds: float | None
    lines: list[PlannedLine]


class Valid(TypedDict):
    """A job file without faults; with --list or --graph what it would do."""

    job: str
    packages: int
    stages: list[str]
    warnings: list[str]
    plan: NotRequired[list[PlannedStage]]


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
    """A job that was submitted, or would be; with --dry-run what it would do."""

    job: str
    packages: int
    no_node: NotRequired[list[NoNode]]
    estimated_end: NotRequired[TimeRange | None]
    sizes: NotRequired[list[StageSizes]]
    dry_run: NotRequired[bool]
    plan: NotRequired[list[PlannedStage]]


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
