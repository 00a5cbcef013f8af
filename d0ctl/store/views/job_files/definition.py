"""A job as it was defined, for other programs."""

import json
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from msgspec import Struct, field

from d0ctl.store.connection import Row, Store


class PackageRows(Struct):
    """A package with its binaries and files."""

    row: Row
    stage: int
    line: int
    line_name: str
    binaries: list[Row]
    inputs: list[Row]
    outputs: list[Row]


class LineRows(Struct):
    """A line with its packages, and the lines before it by the numbers of their stages."""

    row: Row
    packages: list[PackageRows] = field(default_factory=list)
    after: list[Row] = field(default_factory=list)


class StageRows(Struct):
    """A stage with its lines, and the names of the stages before it."""

    row: Row
    lines: list[LineRows] = field(default_factory=list)
    after: list[str] = field(default_factory=list)


class JobRows(Struct):
    """A job with its stages."""

    row: Row
    stages: list[StageRows]

    @property
    def packages(self) -> list[PackageRows]:
        """All its packages."""
        return [one for stage in self.stages for line in stage.lines for one in line.packages]


def read(store: Store, name: str) -> JobRows | None:
    """Return a job with everything in it; None if there is none of that name."""
    job = store.row("export_job", job=name)
    if job is None:
        return None
    place = {"job": job["id"]}
    stages = {row["seq"]: StageRows(row) for row in store.rows("export_stages", **place)}
    for row in store.rows("export_stage_order", **place):
        stages[row["seq"]].after.append(row["name"])
    lines: dict[int, LineRows] = {}
    numbers: dict[int, int] = {}
    for row in store.rows("export_lines", **place):
        lines[row["id"]] = LineRows(row)
        numbers[row["id"]] = row["stage"]
        stages[row["stage"]].lines.append(lines[row["id"]])
    for row in store.rows("export_line_order", **place):
        lines[row["line_id"]].after.append(row)
    binaries = _by_package(store.rows("export_binaries", **place))
    inputs = _by_package(store.rows("export_inputs", **place))
    outputs = _by_package(store.rows("export_outputs", **place))
    for row in store.rows("export_packages", **place):
        key, line = row["id"], lines[row["line_id"]]
        line.packages.append(
            PackageRows(
                row, numbers[row["line_id"]], line.row["seq"], line.row["name"],
                binaries[key], inputs[key], outputs[key],
            )
        )  # fmt: skip
    return JobRows(job, list(stages.values()))


def _by_package(rows: Iterable[Row]) -> defaultdict[int, list[Row]]:
    grouped: defaultdict[int, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[row["package_id"]].append(row)
    return grouped


def parsed(text: str | None) -> Any:
    """Return a value that is stored as JSON; None if there is none."""
    return json.loads(text) if text else None
