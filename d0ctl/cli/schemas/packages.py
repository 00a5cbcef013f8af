"""The documents of a package, its attempts, binaries and files."""

from typing import Annotated, Any, TypedDict

from msgspec import Meta

from d0ctl.cli.schemas.jobs import Acknowledgement, Shortfall, Time, TimeRange


class Progress(TypedDict):
    """The progress of a package; all null if its wrapper has not reported."""

    done: float | None
    total: float | None
    percent: float | None
    eta: Time | None
    binary: int | None
    line: str | None
    cpu: Annotated[float | None, Meta(description="Seconds of CPU time so far.")]
    rss: Annotated[int | None, Meta(description="Bytes of memory.")]
    at: Time | None


class LiveStatus(TypedDict):
    """What a wrapper reports at this moment."""

    told: Time | None
    state: str
    message: str
    phase: str | None
    why: str | None
    since: Time | None
    binary: int | None
    began: Time | None
    done: float | None
    total: float | None
    percent: float | None
    line: str | None
    eta: Time | None
    cpu: float | None
    rss: int | None
    processes: int | None
    disk_free: int | None
    last_sign: Time | None


class Note(TypedDict):
    """A remark of a wrapper about an attempt, or that its kept outputs were removed."""

    attempt: int
    at: Time | None
    binary: int | None
    text: str


class Attempt(TypedDict):
    """One try at a package."""

    attempt: int
    node: str
    platform: Annotated[str | None, Meta(description="The platform of the node.")]
    kind: str
    launched: Time | None
    started: Time | None
    ended: Time | None
    utc_offset: Annotated[int | None, Meta(description="Seconds, of the node.")]
    outcome: str | None
    binary: int | None
    reason: str | None
    message: str | None
    exit_code: int | None
    signal: int | None
    cpu: float | None
    rss: int | None
    stderr: str | None
    began: Annotated[int, Meta(description="The first binary that it ran.")]
    began_why: str | None
    events: Annotated[list[Any], Meta(description="Ranges of processed events.")]
    log: Annotated[str | None, Meta(description="The folder on its node.")]
    inputs: int | None
    inputs_asked: int | None
    left_out: list[Any]


class Failures(TypedDict):
    """Failures of a package for one reason."""

    reason: str | None
    count: int
    last: Time | None
    message: str | None
    node: str


class Record(TypedDict):
    """The record of a binary."""

    started: Time | None
    ended: Time | None
    exit_code: int | None
    signal: int | None
    reason: str | None
    cpu: float | None
    rss: int | None
    attempt: int | None


class BinaryRequests(TypedDict):
    """What the job file requests for a binary; sizes in bytes, times in seconds."""

    software: Annotated[str | None, Meta(description="NAME/VERSION in the catalogue.")]
    image: str | None
    stdin: str | None
    shell: str
    parameters: dict[str, Any]
    needs: list[str]
    cpu: Annotated[int | None, Meta(description="Percent of a CPU.")]
    runtime: float | None
    work_size: int | None
    log_rules: list[dict[str, Any]]
    progress: dict[str, Any]
    check: str | None
    check_timeout: float | None
    events: dict[str, Any]


class Binary(Record):
    """A binary, and its record in the last attempt that ran it."""

    binary: int
    name: str
    asked: BinaryRequests


Input = TypedDict(
    "Input",
    {
        "file": str, "binary": int, "from": str | None, "acquire": str, "disposition": str | None,
        "required": bool, "present": bool, "dropped": bool, "size": int | None,
        "size_asked": int | None, "checksum": str | None, "locator": str | None,
        "local": str, "writable": bool,
    },
)  # fmt: skip
"""A file that a package reads, the package that makes it, and its name in the working directory."""


class Output(TypedDict):
    """A file that a package makes."""

    file: str
    binary: int
    present: bool
    dropped: bool
    size: int | None
    size_asked: Annotated[int | None, Meta(description="As the job file estimates it.")]
    min_size: int | None
    checksum: str | None
    checksum_asked: Annotated[str | None, Meta(description="As the job file says.")]
    dispositions: list[str]
    result: bool
    partial: bool
    locator: str | None
    stored: Annotated[list[str], Meta(description="Locators at which it is stored.")]
    copies: list[str]


class PackageRequests(TypedDict):
    """What the job file requests for a package; sizes in bytes, times in seconds."""

    memory: int | None
    gpus: int
    disk: int | None
    wall_time: float | None
    looping: float | None
    platform: str | None
    nodes: list[str]
    exclude_nodes: list[str]
    wrapper: Annotated[str | None, Meta(description="Its startup script.")]
    wrapper_parameters: dict[str, str]
    environment: dict[str, str]
    policy: Annotated[dict[str, Any], Meta(description="Its own rules.")]


class Package(TypedDict):
    """All about a package."""

    path: str
    job: str
    stage: int
    stage_name: str
    line: int
    line_name: str
    package: int
    name: str
    status: str
    phase: str
    node: str | None
    request: str | None
    note: str | None
    actor: str | None
    changed: Time | None
    not_before: Annotated[Time | None, Meta(description="Until when it cools off or is held.")]
    acknowledged: Acknowledgement | None
    restarts: int
    cpus: int
    priority: int | None
    asked: PackageRequests
    attempts: list[Attempt]
    failures: list[Failures]
    estimated_start: TimeRange | None
    estimated_end: TimeRange | None
    progress: Progress
    notes: list[Note]
    binaries: list[Binary]
    left_out: Shortfall | None
    inputs: list[Input]
    outputs: list[Output]


class PackageNow(Package):
    """The same, with what its wrapper reports; null where no attempt is running."""

    now: LiveStatus | None


class NodeRecord(Record):
    """The record of a binary in one attempt."""

    node: str


class BinaryCard(TypedDict):
    """All about a binary."""

    path: str
    package: str
    status: str
    binary: int
    name: str
    asked: BinaryRequests
    started: Time | None
    ended: Time | None
    exit_code: int | None
    signal: int | None
    reason: str | None
    cpu: float | None
    rss: int | None
    attempt: int | None
    script: str | None
    argv: list[str] | None
    attempts: list[NodeRecord]
    inputs: list[Input]
    outputs: list[Output]


class Entry(TypedDict):
    """An entry of the folder of an attempt."""

    file: str
    type: str
    size: int
    time: Time | None
    target: str | None


class Peek(TypedDict):
    """A folder of an attempt; `files` is null if the node did not answer."""

    path: str
    status: str
    phase: str
    attempt: int
    node: str
    folder: str
    state: str | None
    now: LiveStatus | None
    files: list[Entry] | None
    more: Annotated[bool, Meta(description="Not all are listed.")]
