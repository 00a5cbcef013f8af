"""The requests and guards of packages that a correction changes."""

import json
from collections import Counter, defaultdict
from collections.abc import Collection
from typing import Any, NamedTuple

from d0ctl.jobfile.spec import JobSpec, PackageSpec
from d0ctl.store.connection import Store, as_json
from d0ctl.store.jobs import retry
from d0ctl.store.jobs.correction.checks import pairs
from d0ctl.store.jobs.correction.comparison import Comparison
from d0ctl.store.jobs.correction.definitions import ASKED
from d0ctl.store.jobs.correction.planning import Outline
from d0ctl.store.jobs.submission.intake_rows import (
    BinaryRow,
    FileRow,
    Row,
    asked_by,
    binary_row,
    listed,
    output_row,
)
from d0ctl.units import REQUESTS


class RequestChange(NamedTuple):
    """A request of a package now, and as the job file has it; `name` is its key there."""

    name: str
    before: Any
    after: Any


def changed_requests(
    store: Store, spec: JobSpec, outline: Outline, other_keys: Collection[int] = ()
) -> Counter[tuple[RequestChange, ...]]:
    """Return the changes of requests, and the number of packages that get each set of them."""
    selected = store.select((outline.written - outline.accepted.keys()).union(other_keys))
    before = {row["id"]: row for row in selected.rows("requests_of_selected")}
    changes: Counter[tuple[RequestChange, ...]] = Counter()
    for line, of in pairs(spec, outline.found) if before else ():
        for number, package in enumerate(of.packages):
            row = before.get(line.package(number) or 0)
            if row is not None:
                present = {**dict(row), "nodes": tuple(json.loads(row["nodes"] or "[]"))}
                changes[_changes(present, package)] += 1
    changes.pop((), None)
    return changes


def _changes(present: dict[str, Any], spec: PackageSpec) -> tuple[RequestChange, ...]:
    pairs = ((name, present[name] or None, getattr(spec, name) or None)
             for name in (*REQUESTS, "wall_time", "nodes"))  # fmt: skip
    priority = "priority", present["priority"], spec.priority
    variables = json.loads(present["environment"] or "{}")
    return (
        *(RequestChange(name.replace("_", "-"), old, new)
          for name, old, new in (*pairs, priority) if old != new),
        *(RequestChange(f"variable {name}", "set", None)
          for name in sorted(variables.keys() - spec.environment.keys())),
    )  # fmt: skip


def change_keys(store: Store, spec: JobSpec, found: Comparison, packages: Collection[int]) -> None:
    """Have successful packages follow the keys of a job file that make nothing out of date.

    What they ran, read and made stays, and so do their estimates and what their files are kept for.
    """
    guarded: list[Row] = []
    watched: list[Row] = []
    outputs: list[Row] = []
    asked = defaultdict[Row, list[int]](list)
    for line, of in pairs(spec, found) if packages else ():
        for number, package in enumerate(of.packages):
            key = line.package(number)
            if key is None or key not in packages:
                continue
            asked[asked_by(package, False)].append(key)
            guarded.append((package.wall_time, package.looping, as_json(package.policy), key))
            for seq, binary in enumerate(package.binaries, 1):
                row = BinaryRow(*binary_row(key, seq, binary))
                watched.append((
                    row.needs, row.cpu, row.runtime, row.work_size, row.log_rules, row.progress,
                    row.check, row.check_timeout, key, seq,
                ))  # fmt: skip
                for output in binary.outputs:
                    file = FileRow(*output_row(0, 0, key, seq, output))
                    least = output.min_count if file.late else None
                    outputs.append((file.min_size, least, key, file.name))
    store.change_many("change_guards_of_package", guarded)
    store.change_many("change_guards_of_binary", watched)
    store.change_many("change_guards_of_output", outputs)
    for requests, keys in asked.items():
        values = dict(zip(ASKED, listed(requests), strict=True))
        del values["early"]  # it is counted how it started
        retry.change_requirements(store.select(keys), values)
