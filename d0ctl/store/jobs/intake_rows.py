"""Rows of a job that comes in, and their insertion."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct, field

from d0ctl.store.connection import Store

Row: TypeAlias = tuple[Any, ...]

_PLAIN = {
    "bring_package": ("bring_plain_package", 10),
    "insert_binary": ("insert_plain_binary", 6),
    "insert_file": ("insert_plain_file", 9),
    "insert_input": ("insert_plain_input", 7),
}
"""The query for rows that end in nulls only, and how many columns it takes.

To bind a null takes python ten times as long as to bind a number, and most rows have many.
"""


class PackageRow(NamedTuple):
    """A package; what most packages have not comes last."""

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
    """A binary of a package; what most binaries have not comes last."""

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
    """A file that a binary reads; what most inputs have not comes last."""

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


class Chunk(Struct):
    """The rows of some lines, by table."""

    lines: list[Row] = field(default_factory=list)
    packages: list[PackageRow] = field(default_factory=list)
    binaries: list[BinaryRow] = field(default_factory=list)
    files: list[FileRow] = field(default_factory=list)
    inputs: list[InputRow] = field(default_factory=list)
    early: list[Row] = field(default_factory=list)
    late: list[Row] = field(default_factory=list)
    matches: list[Row] = field(default_factory=list)

    def insert(self, store: Store) -> None:
        """Insert the rows, each kind after those that it refers to."""
        store.change_many("insert_line", self.lines)
        insert(store, "bring_package", self.packages)
        store.change("insert_packages")
        store.change("clear_incoming")
        insert(store, "insert_binary", self.binaries)
        insert(store, "insert_file", self.files)
        insert(store, "insert_input", self.inputs)
        store.change_many("let_start_early", self.early)
        store.change_many("make_late", self.late)
        store.change_many("match_late", self.matches)


def insert(store: Store, query: str, rows: Sequence[Row]) -> None:
    """Insert rows, each by the query that is enough for it."""
    plain, width = _PLAIN[query]
    short, whole = [], []
    for row in rows:
        rest = row[width:]
        if rest.count(None) == len(rest):
            short.append(row[:width])
        else:
            whole.append(row)
    store.change_many(plain, short)
    store.change_many(query, whole)
