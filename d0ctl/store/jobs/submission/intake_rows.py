"""Rows of a job that is submitted."""

from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct, field

Row: TypeAlias = tuple[Any, ...]


class PackageRow(NamedTuple):
    """A package; columns that are mostly null come last."""

    id: int
    job: int
    stage: int
    line: int
    seq: int
    name: str
    phase: str
    missing: int
    requirement: int
    changed: float
    wall_time: float | None
    looping: float | None
    wrapper: str | None
    wrapper_parameters: str | None
    environment: str | None
    policy: str | None


class BinaryRow(NamedTuple):
    """A binary of a package; columns that are mostly null come last."""

    package: int
    seq: int
    name: str
    script: str | None
    shell: str | None
    argv: str | None
    software: str | None
    parameters: str | None
    needs: str | None
    cpu: float | None
    runtime: float | None
    work_size: int | None
    log_rules: str | None
    progress: str | None
    check: str | None
    check_timeout: float | None
    events: str | None
    image: str | None
    stdin: str | None


class FileRow(NamedTuple):
    """A file that a package makes, or that comes from outside."""

    id: int
    job: int
    name: str
    package: int | None
    binary: int | None
    present: int
    dispositions: str
    result: int
    late: int
    locator: str | None
    size: int | None
    min_size: int | None
    checksum: str | None


class InputRow(NamedTuple):
    """A file that a binary reads; columns that are mostly null come last."""

    package: int
    binary: int
    file: int
    position: int
    own: int
    acquire: str
    required: int
    disposition: str | None
    locator: str | None
    size: int | None
    checksum: str | None
    writable: int | None
    local: str | None


class Chunk(Struct):
    """The rows of some lines, by table."""

    lines: list[Row] = field(default_factory=list)
    packages: list[Row] = field(default_factory=list)
    binaries: list[Row] = field(default_factory=list)
    files: list[Row] = field(default_factory=list)
    inputs: list[Row] = field(default_factory=list)
    early: list[Row] = field(default_factory=list)
    late: list[Row] = field(default_factory=list)
    matches: list[Row] = field(default_factory=list)
    requirements: list[Row] = field(default_factory=list)
    """Those that appear for the first time, each with its number in this job."""
    foreign: list[Row] = field(default_factory=list)
    """Inputs that other jobs make: job and name of the file, the row without it, the pattern."""
    orders: list[Row] = field(default_factory=list)
    """Lines that come after others."""
    results: list[Row] = field(default_factory=list)
    """Files for results/."""
