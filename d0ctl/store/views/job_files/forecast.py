"""Facts about a job before it is submitted: files of other jobs, and its run times."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import chain
from typing import NamedTuple

from d0ctl.jobfile.language.file_names import foreign
from d0ctl.jobfile.spec import JobSpec, PackageSpec
from d0ctl.store.connection import Store


class RunTimes(NamedTuple):
    """Facts from earlier jobs with the same job file, the last of which is `job`, or None without
    any: the run time of a package of each stage, and how many files each late output
    was."""

    job: str | None
    seconds: Mapping[str, float]
    late: Mapping[str, int]


def run_times(store: Store, source: str) -> RunTimes:
    """Return the run times of the last successes of a job file."""
    rows = [row for row in store.rows("run_times_of_source", source=source)
            if row["seconds"] is not None]  # fmt: skip
    if not rows:
        return RunTimes(None, {}, {})
    late = store.rows("late_counts", job=rows[0]["id"])
    return RunTimes(rows[0]["job"], {row["name"]: row["seconds"] for row in rows},
                    {row["name"]: row["files"] for row in late})  # fmt: skip


class Absent(NamedTuple):
    """How many files of another job do not exist, and how many are dropped."""

    missing: int
    dropped: int


def absent(store: Store, job: str, names: Iterable[str]) -> Absent:
    """Count those of these files of another job that its readers do not get now."""
    row = store.row("absent_files", job=job, names=json.dumps(list(names)))
    assert row is not None
    return Absent(row["absent"], row["dropped"])


class Unmade(NamedTuple):
    """How many files a job that has ended did not make, and the first of them."""

    job: str
    first: str
    files: int


def unmade(store: Store, files: Iterable[str]) -> Iterator[Unmade]:
    """Look up which of these files, `JOB:NAME`, jobs that have ended did not make."""
    for job, names in _by_job(files):
        row = store.row("unmade_files", job=job, names=json.dumps(names))
        if row is not None:
            yield Unmade(job, row["first"], row["files"])


def dropped_inputs(store: Store, files: Iterable[str]) -> frozenset[str]:
    """Return those of these files, `JOB:NAME`, that are dropped."""
    return frozenset(f"{job}:{row['name']}" for job, names in _by_job(files)
                     for row in store.rows("dropped_files", job=job, names=json.dumps(names))
                     )  # fmt: skip


def needed(package: PackageSpec, gone: Set[str]) -> str | None:
    """Return one of these dropped files without which a package can't run: a required one, or any
    if no other one is left of those that are not required."""
    inputs = chain.from_iterable(binary.inputs for binary in package.binaries)
    read = [entry for entry in (*inputs, package.wrapper) if entry is not None and entry.made]
    lacked = [entry for entry in read if entry.file in gone]
    optional = {entry.file for entry in read if not entry.required}
    is_needed = any(entry.required for entry in lacked) or optional <= gone
    return lacked[0].file if lacked and is_needed else None


def needed_by_job(store: Store, spec: JobSpec) -> list[str]:
    """Return such files of other jobs, `JOB:NAME`, for the packages of a job, sorted."""
    gone = dropped_inputs(store, spec.others)
    packages = (package for stage in spec.stages for line in stage.lines
                for package in line.packages) if gone else ()  # fmt: skip
    return sorted({file for package in packages if (file := needed(package, gone)) is not None})


def _by_job(files: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Sort the names of files, `JOB:NAME`, by their jobs."""
    found = defaultdict(list)
    for named in filter(None, map(foreign, files)):
        found[named[0]].append(named[1])
    yield from sorted(found.items())
