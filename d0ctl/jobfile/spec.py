"""A checked job as a value, before it has rows in the database.

A `StageSpec.lines` makes its lines again each time it is iterated, so that the store can
write a job of 10^6 packages without holding them all in memory: 200,000 packages take 80 MB.
The fields are those of the D0 Job Definition, section 2.
"""

import enum
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

INPUTS = "\x01inputs\x01"
"""Stands for the inputs in a script or an argument until the launch, because a drop can shorten
their list until then."""

GROUP = "\x02"
"""Stands before and after the names of a group of inputs there, for the same reason."""


def reserved_character(text: str) -> str | None:
    """Return a character of a value that d0ctl reserves; None if it has none."""
    if "\x01" in text:
        return "\x01"
    return GROUP if GROUP in text else None


STDIN = "-"
"""The source of a job from stdin, which has no file."""

WITHOUT_FILE = f"{STDIN} "
"""Stands before the name of a job that was made by a command or a program, as its source."""


def has_file(source: str) -> bool:
    """Return whether a job was read from a file."""
    return source != STDIN and not source.startswith(WITHOUT_FILE)


def without_file(spec: "JobSpec") -> "JobSpec":
    """Return a job whose text is in no file; jobs of the same name and folder are alike."""
    return replace(spec, source=WITHOUT_FILE + spec.source) if has_file(spec.source) else spec


class MailMode(enum.StrEnum):
    """Which mails a recipient gets."""

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


class InputSpec(Struct, frozen=True):
    """One file that a binary reads.

    `file` is the name of a file made in this job, `JOB:NAME` for one made in another,
    or the absolute path of one that no package makes; `made` is false for the last. A file that
    an earlier binary of the same package makes is included; the package does not wait for it.
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
    """A pattern: only matching files of a late output are taken."""
    writable: bool = False
    """Whether the program may change it, so that each attempt gets its own copy."""
    local: str | None = None
    """Its name in the working directory, or its folder there with `/` at the end; None if it is
    its base name."""


class OutputSpec(Struct, frozen=True):
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
    """The number of files of a late output below which the attempt fails."""


class BinarySpec(Struct, frozen=True):
    """One program with its arguments, as a node executes it.

    Either `script` (text for the shell named by `shell`) or `argv` is set, never both, and
    neither if it comes with `software`; `INPUTS` in it stands for the inputs.
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
    image: str | None = None
    """The container image that it runs in."""
    stdin: str | None = None
    """The input that is its standard input, by its name in the working directory."""


CPU_BOUND = 90
"""A binary that uses at least this percentage of a CPU does not share it."""


class PackageSpec(Struct, frozen=True):
    """The unit of scheduling: a chain of binaries that runs on one node as a whole.

    `memory` and `disk` are bytes, `wall_time` and `looping` seconds.
    """

    name: str
    binaries: tuple[BinarySpec, ...]
    nodes: tuple[str, ...] = ()
    exclude_nodes: tuple[str, ...] = ()
    platform: str | None = None
    cpus: int = 1
    memory: int | None = None
    gpus: int = 0
    disk: int | None = None
    wall_time: float | None = None
    wrapper: InputSpec | None = None
    """Its startup script, a file like an input."""
    wrapper_parameters: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    policy: Mapping[str, Any] = field(default_factory=dict)
    looping: float | None = None
    priority: int | None = None
    """None means the job's priority."""

    @property
    def cpu(self) -> int:
        """The largest percentage of a CPU that its binaries use; CPU-bound ones use all of it."""
        if len(self.binaries) == 1 and self.binaries[0].cpu is None:
            return 100
        most = max(100 if binary.cpu is None else binary.cpu for binary in self.binaries)
        return 100 if most >= CPU_BOUND else max(1, round(most))


class LineSpec(Struct, frozen=True):
    """Packages that run one after another."""

    name: str
    packages: tuple[PackageSpec, ...]
    early_start: bool = False
    after: tuple[tuple[int, int], ...] = ()
    """The lines that must succeed first, by the numbers of their stages and their own."""
    is_open: bool = False
    """Whether it stands for the lines of all groups of late outputs, until these are known."""


class Lines(Protocol):
    """The lines of a stage: each iteration makes them again, in the same order."""

    def __iter__(self) -> Iterator[LineSpec]: ...

    def __len__(self) -> int: ...


class StageSpec(Struct, frozen=True):
    """Lines side by side; `require` is the fraction that must succeed of a stage that it reads."""

    name: str
    lines: Lines
    require: float = 1.0
    max_running: int | None = None
    after: tuple[int, ...] = ()
    """The numbers of the stages that must succeed first."""
    final: bool = False
    """Whether it runs after all other stages, whatever their result."""
    kinds: Iterable[LineSpec] | None = None
    """Lines with all the various requests of `lines`; None: as many as there are."""
    is_late: bool = False
    """Whether its lines depend on groups of late outputs, by loops, `from` or `after`."""


class JobSpec(Struct, frozen=True):
    """A whole job. `directory` is the folder of its relative files, `source` its job file.

    `named` says whether the job file sets the name; if not, `name` is the file's
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
    """The number of packages in all lines."""
    mail: str | None = None
    """Which mails its originator wants; None leaves that to the site."""
    max_alike_failures: int | None = None
    """The number of similar failures of a stage without a success after which the job is held;
    0 means never, None leaves that to the site."""
    max_running: int | None = None
    max_failures: int | None = None
    """The number of failed packages after which the job is held."""
    text: str = ""
    """The job file as it was read; empty if the job was made otherwise."""
    others: Collection[str] = ()
    """The files of other jobs that it reads, as `JOB:NAME`."""
    warnings: tuple[str, ...] = ()
    """One line for each thing that can run, but may be a mistake."""
    left_out: tuple[str, ...] = ()
    """Those that name files which are in no group, without their positions."""
