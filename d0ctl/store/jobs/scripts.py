"""The scripts of packages, and their job file."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from d0ctl.store.connection import Selection, Store


class Source(NamedTuple):
    """The job file of a job, and the parameters with which it was read."""

    path: Path
    parameters: dict[str, Any]


class Position(NamedTuple):
    """A package and its numbers in its job."""

    package: int
    stage: int
    line: int
    seq: int


class Script(NamedTuple):
    """The script of one binary of a package."""

    package: int
    seq: int
    script: str | None
    argv: str | None
    parameters: str | None


def source(store: Store, job: str) -> Source | None:
    """Return the job file of a job; None if there is no such job."""
    row = store.row("job_source", job=job)
    return None if row is None else Source(Path(row["source"]), json.loads(row["parameters"]))


def positions(selected: Selection) -> list[Position]:
    """Return the selected packages in the order of their job."""
    return [
        Position(row["id"], row["stage"], row["line"], row["seq"])
        for row in selected.rows("selected_positions")
    ]


def files(selected: Selection) -> dict[int, set[tuple[str, int, str]]]:
    """Return kind, binary and name of the files of the selected packages, by package."""
    found: dict[int, set[tuple[str, int, str]]] = {}
    for row in selected.rows("selected_package_files"):
        found.setdefault(row["package_id"], set()).add((row["kind"], row["binary"], row["name"]))
    return found


def of_package(store: Store, package: int) -> dict[int, Script]:
    """Return the scripts of a package by the number of the binary."""
    return {
        row["seq"]: Script(package, row["seq"], row["script"], row["argv"], row["parameters"])
        for row in store.rows("scripts_of", package=package)
    }
