"""The job as its author meant it, whole and checked, before it has any row.

A `StageSpec.lines` is read as often as one likes and makes its lines anew each
time, so that a job of 10^6 packages never lies in memory as objects.
The fields are those of the D0 Job Definition, section 2.
"""

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

INPUTS = "\x01inputs\x01"
"""Stands in a script, or as an argument, for the inputs: a drop may shorten their list until
the launch, so they are named no sooner."""


class MailMode(enum.StrEnum):
    """Of what somebody is told by mail."""

    EVERYTHING = "everything"
    WHEN_NEEDED = "when-needed"
    NEVER = "never"


class Acquire(enum.StrEnum):
    """How an input reaches its binary (D0 Job Definition, section 2)."""

    NONE = "none"
    SELF = "self"
    PRE_FETCH = "pre-fetch"


class Disposition(enum.StrEnum):
    """What happens to a file (D0 Job Definition, section 2); inputs have only the last three."""

    FORWARD = "forward"
    STORE = "store"
    RETAIN_INDEF = "retain-indef"
    RETAIN_TEMP = "retain-temp"
    DELETABLE = "deletable"


@dataclass(frozen=True, slots=True)
class InputSpec:
    """One file that a binary reads.

    `file` is the name of a file made in this job, `JOB:NAME` for one made in another,
    or the absolute path of one that no package makes. `made` tells the last apart. A file that
    an earlier binary of the same package makes is listed too; the package does not wait for it.
    """

    file: str
    made: bool = True
    locator: str | None = None
    size: int | None = None
    checksum: str | None = None
    acquire: Acquire = Acquire.PRE_FETCH
    disposition: Disposition | None = None
    required: bool = True
    match: str | None = None
    """Of a late output, takes only the files that match this."""
    writable: bool = False
    """Whether the program may change it: then each attempt gets a copy of its own."""


@dataclass(frozen=True, slots=True)
class OutputSpec:
    """One file that a binary writes, relative to its attempt's directory; sizes in bytes."""

    file: str
    locator: str | None = None
    size: int | None = None
    min_size: int | None = None
    checksum: str | None = None
    dispositions: frozenset[Disposition] = frozenset()
    result: bool = False
    late: bool = False
    """Whether `file` may be a pattern, whose files are known only when they are made."""
    min_count: int = 1
    """Fewer files than that of a late output are a failure."""


@dataclass(frozen=True, slots=True)
class BinarySpec:
    """One executable with its arguments, as it runs on the node.

    Either `script` (text for the shell named by `shell`) or `argv` is set, never both, and
    neither where `software` brings it; `INPUTS` in it stands for the inputs.
    Times are in seconds, `work_size` in bytes, `cpu` in percent of one CPU.
    """

    name: str
    script: str | None = None
    shell: str = "bash"
    argv: tuple[str, ...] | None = None
    software: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    inputs: tuple[InputSpec, ...] = ()
    outputs: tuple[OutputSpec, ...] = ()
    runtime: float | None = None
    work_size: int | None = None
    cpu: int | None = None
    needs: tuple[str, ...] = ()
    log_rules: tuple[Mapping[str, Any], ...] = ()
    progress: Mapping[str, Any] | None = None
    check: str | None = None
    check_timeout: float | None = None
    events: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class PackageSpec:
    """The unit of scheduling: a chain of binaries that runs on one node in one go.

    `memory` and `disk` are bytes, `wall_time` and `looping` seconds.
    """

    name: str
    binaries: tuple[BinarySpec, ...]
    nodes: tuple[str, ...] = ()
    exclude_nodes: tuple[str, ...] = ()
    platform: str | None = None
    cpus: int = 1
    memory: int | None = None
    disk: int | None = None
    wall_time: float | None = None
    wrapper: InputSpec | None = None
    """Its startup script, a file as an input is."""
    wrapper_parameters: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    policy: Mapping[str, Any] = field(default_factory=dict)
    looping: float | None = None


@dataclass(frozen=True, slots=True)
class LineSpec:
    """Packages that run one after another."""

    name: str
    packages: tuple[PackageSpec, ...]
    early_start: bool = False


class Lines(Protocol):
    """The lines of a stage: each iteration makes them anew, in the same order."""

    def __iter__(self) -> Iterator[LineSpec]: ...


@dataclass(frozen=True, slots=True)
class StageSpec:
    """Lines side by side; `require` is the fraction of the former stage that must succeed."""

    name: str
    lines: Lines
    require: float = 1.0


@dataclass(frozen=True, slots=True)
class JobSpec:
    """A whole job. `directory` is where its relative files lie, `source` its job file.

    `named` tells whether the job file chose the name; if not, `name` is the file's
    stem and intake adds -001, -002.
    """

    name: str
    named: bool
    title: str
    originator: str
    priority: int
    hold: bool
    parameters: Mapping[str, Any]
    policy: Mapping[str, Any]
    directory: str
    source: str
    stages: tuple[StageSpec, ...]
    packages: int
    """How many packages all the lines hold."""
    mail: str | None = None
    """What its originator wants to be told; None leaves that to the site."""
    max_alike_failures: int | None = None
    """After so many alike failures of a stage without a success it is held; 0: never, None: as
    the site says."""
    warnings: tuple[str, ...] = field(default=(), compare=False)
    """What may not be meant, though it can run; a line each."""
