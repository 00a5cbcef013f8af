"""A job as it was defined, for other programs."""

import json
import os
from collections import defaultdict
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from d0ctl.config import Home
from d0ctl.store.connection import Row, Store

Columns = Row | dict[str, Any]
"""A row of the database, or one that differs from it."""


class PackageRows(Struct):
    """A package with its binaries and files."""

    row: Columns
    stage: int
    line: int
    line_name: str
    binaries: list[Columns]
    inputs: list[Columns]
    outputs: list[Columns]


class LineRows(Struct):
    """A line with its packages, and the lines before it by the numbers of their stages."""

    row: Columns
    packages: list[PackageRows] = field(default_factory=list)
    after: list[Columns] = field(default_factory=list)


class StageRows(Struct):
    """A stage with its lines, and the names of the stages before it."""

    row: Columns
    lines: list[LineRows] = field(default_factory=list)
    after: list[str] = field(default_factory=list)


class JobRows(Struct):
    """A job with its stages."""

    row: Columns
    stages: list[StageRows]

    @property
    def packages(self) -> list[PackageRows]:
        """All its packages."""
        return [
            package for stage in self.stages for line in stage.lines for package in line.packages
        ]


def read(store: Store, name: str) -> JobRows | None:
    """Return a job with everything in it; None if there is none of that name."""
    job = store.row("export_job", job=name)
    if job is None:
        return None
    of_job = {"job": job["id"]}
    stages = {row["seq"]: StageRows(row) for row in store.rows("export_stages", **of_job)}
    for row in store.rows("export_stage_order", **of_job):
        stages[row["seq"]].after.append(row["name"])
    lines: dict[int, LineRows] = {}
    numbers: dict[int, int] = {}
    for row in store.rows("export_lines", **of_job):
        lines[row["id"]] = LineRows(row)
        numbers[row["id"]] = row["stage"]
        stages[row["stage"]].lines.append(lines[row["id"]])
    for row in store.rows("export_line_order", **of_job):
        lines[row["line_id"]].after.append(row)
    binaries = _by_package(store.rows("export_binaries", **of_job))
    inputs = _by_package(store.rows("export_inputs", **of_job, apart=int(bool(store.home.archive))))
    outputs = _by_package(store.rows("export_outputs", **of_job))
    for row in store.rows("export_packages", **of_job):
        key, line = row["id"], lines[row["line_id"]]
        line.packages.append(
            PackageRows(
                row, numbers[row["line_id"]], line.row["seq"], line.row["name"],
                binaries[key], inputs[key], outputs[key],
            )
        )  # fmt: skip
    return JobRows(job, list(stages.values()))


def with_results(job: JobRows, home: Home) -> JobRows:
    """Return an archived job that reads files of other jobs of the archive by paths in results/.

    Those that are not there remain `JOB:NAME`. A job of the database has such paths already.
    """
    from d0ctl.store.files import archived_results  # late: only archives need it

    known: dict[tuple[str, str], Path | None] = {}

    def moved(row: Columns) -> Columns:
        file = row["job"], row["name"]
        if row["job"] is None or not row["result"] or row["late"] or not row["present"]:
            return row
        if file not in known:
            recorded = row["known_size"], row["known_checksum"]
            known[file] = archived_results.folder_with(home, *file, *recorded)
        new = {"name": f"{known[file]}/{row['name']}", "job": None, "maker": None, "pattern": None}
        return {**row, **new} if known[file] else row

    stages = []
    for stage in job.stages:
        lines = []
        for line in stage.lines:
            packages = [replace(package, inputs=[moved(row) for row in package.inputs])
                        for package in line.packages]  # fmt: skip
            lines.append(replace(line, packages=packages))
        stages.append(replace(stage, lines=lines))
    return JobRows(job.row, stages)


def absent_inputs(job: JobRows, home: Home) -> list[Columns]:
    """Return the inputs that jobs which were archived or removed have made, if they are gone."""
    folder = f"{home.results}/"
    rows = {(row["job"], row["name"]): row for package in job.packages for row in package.inputs
            if (home.archive if row["job"] else row["name"].startswith(folder))}  # fmt: skip
    return [row for row in rows.values() if row["job"] or not os.path.lexists(row["name"])]


def part(job: JobRows, packages: Collection[int]) -> JobRows:
    """Return some packages of a job as another job, which reads other files from this one."""
    stages = []
    numbers: dict[tuple[int, int], int] = {}
    for stage in job.stages:
        lines: list[LineRows] = []
        for line in stage.lines:
            parts = [_apart(package, packages, job) for package in line.packages
                     if package.row["id"] in packages]  # fmt: skip
            if parts:
                numbers[stage.row["seq"], line.row["seq"]] = len(lines) + 1
                lines.append(replace(line, packages=parts))
        if lines:
            stages.append(replace(stage, lines=lines))
    names = {stage.row["name"] for stage in stages}
    is_mixed = any(not stage.row["final"] for stage in stages)
    for stage in stages:
        stage.after = [name for name in stage.after if name in names]
        stage.row = {**stage.row, "final": stage.row["final"] and is_mixed}
        for line in stage.lines:
            line.after = [
                {**row, "seq": numbers[row["stage_seq"], row["seq"]]}
                for row in line.after if (row["stage_seq"], row["seq"]) in numbers
            ]  # fmt: skip
    return JobRows({**job.row, "name": None, "hold": 0}, stages)


def _apart(package: PackageRows, packages: Collection[int], job: JobRows) -> PackageRows:
    """Return a package with the files that other packages make as files of another job."""
    inputs: list[Columns] = [
        {**row, "job": job.row["name"]}
        if row["job"] is None and row["maker"] is not None and row["maker"] not in packages
        else row
        for row in package.inputs
    ]
    return replace(package, inputs=inputs)


def _by_package(rows: Iterable[Row]) -> defaultdict[int, list[Columns]]:
    grouped: defaultdict[int, list[Columns]] = defaultdict(list)
    for row in rows:
        grouped[row["package_id"]].append(row)
    return grouped


def parsed(text: str | None) -> Any:
    """Return a value that is stored as JSON; None if there is none."""
    return json.loads(text) if text else None
