"""The requests of packages that a correction changes."""

import json
from collections import Counter
from typing import Any, NamedTuple

from d0ctl.jobfile.spec import JobSpec, PackageSpec
from d0ctl.store.connection import Store
from d0ctl.store.jobs.correction.checks import pairs
from d0ctl.store.jobs.correction.planning import Outline
from d0ctl.units import REQUESTS


class RequestChange(NamedTuple):
    """A request of a package now, and as the job file has it; `name` is its key there."""

    name: str
    before: Any
    after: Any


def changed_requests(
    store: Store, spec: JobSpec, outline: Outline
) -> Counter[tuple[RequestChange, ...]]:
    """Return the changes of requests, and the number of packages that get each set of them."""
    selected = store.select(outline.written - outline.accepted.keys())
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
