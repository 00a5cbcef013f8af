"""The documents of jobs, stages, lines and lists of packages."""

from typing import Annotated, Any, TypeAlias, TypedDict

from msgspec import Meta

from d0ctl.model import Group

Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
"""ISO 8601 in UTC."""

Counts = dict[str, int]
Statuses = Annotated[Counts, Meta(description="Packages in each of the six statuses.")]
Phases = Annotated[Counts, Meta(description="Packages in each phase; none where it is absent.")]


class TimeRange(TypedDict):
    """An estimated time: one in ten ends before `low`, and one after `high`."""

    at: Time | None
    low: Time | None
    high: Time | None


class Hold(TypedDict):
    """Who holds a job, why and since when."""

    by: str | None
    reason: str | None
    since: Time | None


class Pause(Hold):
    """Who paused a job, whether running packages are suspended too, and when it is resumed."""

    running: bool
    until: Annotated[Time | None, Meta(description="When d0ctl resumes it; null: a person does.")]


class Finish(Hold):
    """Who finishes a job, and how."""

    how: str


class Acknowledgement(TypedDict):
    """Who acknowledged a failure, when and why."""

    by: str
    at: Time | None
    reason: str | None


WaitsForNodes: TypeAlias = Annotated[
    list[str],
    Meta(description="Nodes that are down and have packages or files of it: its end is unknown."),
]


class Obstacle(TypedDict):
    """Something that keeps packages from moving, or soon will."""

    text: str
    commands: list[str]


class Job(TypedDict):
    """A job in the list of all."""

    job: str
    title: str
    status: Group
    originator: str
    priority: int
    max_running: int | None
    max_failures: int | None
    submitted: Time | None
    ended: Time | None
    estimated_end: TimeRange | None
    waits_for_nodes: WaitsForNodes
    held: Hold | None
    paused: bool
    pause: Pause | None
    finishing: Finish | None
    blocked: Annotated[int, Meta(description="Packages whose inputs will never be made.")]
    obstacle: Annotated[Obstacle | None, Meta(description="What stops this job alone.")]
    acknowledged: Annotated[int, Meta(description="Failed packages that need nobody any more.")]
    packages: Statuses
    phases: Phases


class Jobs(TypedDict):
    """All jobs."""

    jobs: list[Job]
    obstacles: Annotated[
        list[Obstacle], Meta(description="What stops all jobs; empty if no job has work left.")
    ]


class Rate(TypedDict):
    """How many packages of a stage have ended lately."""

    ended: Annotated[int, Meta(description="In any way.")]
    failed: int
    seconds: Annotated[float, Meta(description="In how long: at most 10 min.")]


class Stage(TypedDict):
    """A stage with its counts."""

    stage: int
    name: str
    status: Group
    lines: int
    final: Annotated[bool, Meta(description="It runs last, even if others failed.")]
    require: Annotated[float, Meta(description="The part of what it reads that must succeed.")]
    max_running: int | None
    rate: Annotated[Rate | None, Meta(description="None if its job or no package has ended.")]
    acknowledged: Annotated[int, Meta(description="Failed packages that need nobody any more.")]
    packages: Statuses
    phases: Phases


class Line(TypedDict):
    """A line with its counts."""

    line: int
    name: str
    status: Group
    early_start: Annotated[bool, Meta(description="Its first package starts at its first input.")]
    dropped: Time | None
    acknowledged: Annotated[int, Meta(description="Failed packages that need nobody any more.")]
    packages: Statuses
    phases: Phases


class PackageRow(TypedDict):
    """A package in a list."""

    path: str
    name: str
    status: str
    phase: str
    node: str | None
    request: Annotated[str | None, Meta(description="A verb in progress or failed.")]
    note: str | None
    changed: Time | None
    attempts: int
    started: Time | None
    ended: Time | None
    reason: str | None
    message: str | None
    percent: float | None
    eta: Time | None
    acknowledged: Acknowledgement | None


class Packages(TypedDict):
    """The packages of a pattern, a range or a filter."""

    packages: list[PackageRow]


class AttemptFailure(TypedDict):
    """Why an attempt failed."""

    path: str
    attempt: int
    ended: Time | None
    node: str | None
    binary: int | None
    reason: str | None
    message: str | None
    exit_code: int | None
    signal: int | None
    stderr: str | None


class Failure(AttemptFailure):
    """A failed package with the attempt that says why."""

    acknowledged: Acknowledgement | None


class Shortfall(TypedDict):
    path: str
    inputs: int
    of: int
    missing: list[str]


"""What a package lacks."""


class Exclusion(TypedDict):
    """A node on which failed packages of a job are not tried again."""

    node: str
    successful: int
    failed: int


class SizeRange(TypedDict):
    """Estimated bytes: one in ten is below `low`, and one above `high`."""

    low: int
    middle: int
    high: int


class Straggler(TypedDict):
    """A package that runs much longer than expected."""

    path: str
    node: str
    started: Time | None
    expected: Annotated[float, Meta(description="Seconds on this node.")]
    high: Annotated[float, Meta(description="One of ten takes longer than these seconds.")]


class JobCard(Job):
    """All about a job."""

    mail: Annotated[str | None, Meta(description="Which mail its originator gets.")]
    max_alike_failures: int | None
    parameters: dict[str, Any]
    policy: Annotated[dict[str, Any], Meta(description="Its own rules.")]
    dropped: Annotated[int, Meta(description="Dropped lines.")]
    removed: Annotated[int, Meta(description="Dropped lines that its job file no longer has.")]
    left_out: Annotated[list[Shortfall], Meta(description="Packages that run without some inputs.")]
    stages: list[Stage]
    nodes: Annotated[Counts, Meta(description="Launched packages by node.")]
    running: list[PackageRow]
    failed: Annotated[list[Failure], Meta(description="The last failures.")]
    excluded: list[Exclusion]
    stragglers: list[Straggler]


class StageCard(Stage):
    """All about a stage."""

    job: str
    path: str
    line_list: list[Line]
    failed: list[Failure]


class LineCard(Line):
    """All about a line."""

    job: str
    stage: int
    stage_name: str
    path: str
    package_list: list[PackageRow]


class Archive(TypedDict):
    """A file that ended jobs were moved to."""

    name: str
    jobs: list[str]
    packages: int
    size: Annotated[int, Meta(description="Bytes.")]


class Archives(TypedDict):
    """The archives of a home."""

    archives: list[Archive]
