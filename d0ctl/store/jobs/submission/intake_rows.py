"""Rows of a job that is submitted.

A submission makes plain tuples with these fields: to make a named one takes ten times as long.
"""

import json
from collections.abc import Mapping
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct, field

from d0ctl.jobfile.language.file_names import is_pattern
from d0ctl.jobfile.spec import (
    Acquire,
    BinarySpec,
    InputSpec,
    LineSpec,
    OutputSpec,
    PackageSpec,
)
from d0ctl.store.connection import as_json
from d0ctl.store.nodes.fitting import space, wants
from d0ctl.units import REQUESTS

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


_resources = attrgetter(*REQUESTS)


def asked_by(spec: PackageSpec, is_early: bool) -> Row:
    """Return the requests of a package to a node."""
    fetches = spec.wrapper is not None and spec.wrapper.acquire == Acquire.PRE_FETCH
    for binary in spec.binaries:  # plain loops: a generator for each took three times as long
        for entry in binary.inputs:
            fetches = fetches or entry.acquire == Acquire.PRE_FETCH
    return (
        *_resources(spec), spec.cpu, space(spec), spec.platform, spec.nodes,
        spec.exclude_nodes, spec.priority, int(is_early), int(fetches), *wants(spec),
    )  # fmt: skip


def listed(requirement: Row) -> list[Any]:
    """Return a requirement as it is stored."""
    return [json.dumps(value) if isinstance(value, tuple) else value for value in requirement]


def line_row(line: int, stage: int, seq: int, spec: LineSpec) -> Row:
    """Return the row of a line."""
    return (line, stage, seq, spec.name, int(spec.early_start), int(spec.is_open))


def output_row(file: int, job: int, package: int, binary: int, spec: OutputSpec) -> Row:
    """Return the row of an output of a binary, as the fields of a FileRow."""
    return (
        file, job, spec.file, package, binary, 0, " ".join(sorted(spec.dispositions)),
        int(spec.result), int(spec.late and is_pattern(spec.file)), spec.locator, spec.size,
        spec.min_size, spec.checksum,
    )  # fmt: skip


def input_row(
    package: int, binary: int, file: int, position: int, own: int, spec: InputSpec
) -> Row:
    """Return the row of an input, as the fields of an InputRow."""
    return (
        package, binary, file, position, own, str(spec.acquire), int(spec.required),
        str(spec.disposition) if spec.disposition else None, spec.locator, spec.size,
        spec.checksum, 1 if spec.writable else None, spec.local,
    )  # fmt: skip


def binary_row(package: int, seq: int, spec: BinarySpec) -> Row:
    """Return the row of a binary, as the fields of a BinaryRow."""
    progress: Mapping[str, Any] | None = spec.progress
    return (
        package, seq, spec.name, spec.script, spec.shell, as_json(spec.argv), spec.software,
        as_json(spec.parameters), as_json(spec.needs), spec.cpu, spec.runtime, spec.work_size,
        as_json(spec.log_rules), as_json(progress), spec.check, spec.check_timeout,
        as_json(spec.events), spec.image, spec.stdin,
    )  # fmt: skip
