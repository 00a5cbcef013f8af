"""Pages of the tree job > stage > line > package by dense number: no read grows with the tree."""

import json
from array import array
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from d0ctl.select import Selector
from d0ctl.store import stage_order
from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes.holder import as_heard, unheard
from d0ctl.store.rows import make
from d0ctl.store.views.browse import acknowledged, is_blocked, is_stuck
from d0ctl.store.views.selection import choose
from d0ctl.store.views.shapes import (
    JobSummary,
    LineSummary,
    OnlyPackage,
    PackageRow,
    StageSummary,
)
from d0ctl.units import likeness

COUNTED = 5_000
"""This many packages of a line are counted; of a longer one, the first."""

GROUPED = 20_000
"""This many packages of a job are grouped, which takes 50 ms."""


class Place(Struct, frozen=True):
    """The position of a package: its job's id, and its numbers within."""

    job: int
    stage: int
    line: int
    package: int


def job_ids(store: Store) -> "array[int]":
    """Return every job that can be seen, the newest first."""
    return array("q", (row[0] for row in store.rows("outline_job_ids")))


def jobs(store: Store, ids: Sequence[int]) -> dict[int, JobSummary]:
    """Return some jobs with their counts, by their ids; removed ones are omitted."""
    wanted = json.dumps(list(ids))
    counts = _counts(store.rows("outline_jobs_counts", ids=wanted), "job_id")
    final = stage_order.final_counts(store)
    return {
        row["id"]: make(JobSummary, row, counts=counts.get(row["id"], {}),
                        final=final.get(row["id"], {}),
                        blocked=is_blocked(store, row, counts.get(row["id"], {})))
        for row in store.rows("outline_jobs", ids=wanted)
    }  # fmt: skip


def stages(store: Store, job: JobSummary, first: int, last: int) -> list[StageSummary]:
    """Return a page of the stages of a job."""
    page = {"job": job.id, "first": first, "last": last}
    counts = _counts(store.rows("outline_stages_counts", **page), "stage_id")
    return [
        make(StageSummary, row, counts=counts.get(row["id"], {}), blocked=job.blocked)
        for row in store.rows("outline_stages", **page)
    ]


def lines(
    store: Store, job: JobSummary, stage: StageSummary, first: int, last: int
) -> list[LineSummary | OnlyPackage]:
    """Return a page of the lines of a stage; of a line with just one package, the package.

    The only line has the counts of the stage.
    """
    page = {"stage": stage.id, "first": first, "last": last}
    there = store.rows("lines", **page)
    if stage.lines == 1:
        counts = {row["id"]: dict(stage.counts) for row in there}
    else:
        counts = _counts(store.rows("outline_lines_counts", window=COUNTED, **page), "line_id")
    only = _only_packages(store, there, counts)
    known = acknowledged(store, stage, first, last)
    return [
        only.get(row["id"])
        or make(LineSummary, row, counts=counts.get(row["id"], {}),
                acknowledged=known.get(row["id"], 0),
                blocked=job.blocked or is_stuck(counts.get(row["id"], {})))
        for row in there
    ]  # fmt: skip


def _only_packages(
    store: Store, lines: Sequence[Row], counts: Mapping[int, Mapping[str, int]]
) -> dict[int, OnlyPackage]:
    """Return the packages of the lines that have just one, by the ids of the lines."""
    wanted = {row["id"]: row for row in lines if sum(counts.get(row["id"], {}).values()) == 1}
    packages, known = dict[int, OnlyPackage](), unheard(store)
    for row in store.rows("outline_only_packages", lines=json.dumps(list(wanted))):
        line = wanted[row["line_id"]]
        packages[line["id"]] = make(OnlyPackage, row, line_seq=line["seq"], line_name=line["name"],
                                 dropped=line["dropped"], **known)  # fmt: skip
    return packages


def packages(store: Store, line: int, first: int, last: int) -> list[PackageRow]:
    """Return a page of the packages of a line."""
    rows = store.rows("outline_packages", line=line, first=first, last=last)
    return as_heard(store, PackageRow, rows)


def packages_by_id(store: Store, ids: Iterable[int]) -> dict[int, PackageRow]:
    """Return some packages by their ids; removed ones are omitted."""
    rows = store.rows("outline_packages_by_id", ids=json.dumps(list(ids)))
    return {row.id: row for row in as_heard(store, PackageRow, rows)}


def paths(store: Store, ids: Iterable[int]) -> list[str]:
    """Return the paths of some packages; removed ones are omitted."""
    return [row["path"] for row in store.rows("outline_paths", ids=json.dumps(list(ids)))]


def on_node(store: Store, node: int, limit: int) -> list[PackageRow]:
    """Return a few packages that are live on a node."""
    rows = store.rows("outline_on_node", node=node, limit=limit)
    return as_heard(store, PackageRow, rows)


def stage_count(store: Store, job: int) -> int:
    """Return how many stages a job has."""
    return int(store.value("outline_last_stage", job=job))


def package_count(store: Store, line: int) -> int:
    """Return how many packages a line has."""
    return int(store.value("outline_last_package", line=line))


def binary_count(store: Store, package: int) -> int:
    """Return how many binaries a package has."""
    return int(store.value("outline_last_binary", package=package))


def position(store: Store, package: int) -> Place | None:
    """Return the position of a package; None if it was removed."""
    row = store.row("outline_place", package=package)
    if row is None:
        return None
    return Place(row["job_id"], row["stage"], row["line"], row["package"])


def first_of_line(store: Store, job: int, stage: int, line: int) -> int | None:
    """Return the id of the first package of a line, given by its number in its stage."""
    package: int | None = store.value("outline_first_below", job=job, stage=stage, line=line)
    return package


def in_phases(
    store: Store, jobs: Iterable[int], phases: Iterable[str], *, acknowledged: bool = True
) -> "array[int]":
    """Return the ids of all packages of some jobs in these phases, in the order of paths.

    Packages with acknowledged failures can be left out.
    """
    names = json.dumps(list(phases))
    query = "outline_in_phases" if acknowledged else "outline_needing_in_phases"
    packages = array("q")
    for job in jobs:
        packages.extend(row[0] for row in store.rows(query, job=job, phases=names))
    return packages


Alike = tuple[int, str, str | None, str]
"""What packages of a group have in common: stage, phase, reason, and the likeness of messages."""


def groups(store: Store, job: int, phases: Iterable[str]) -> dict[Alike, int]:
    """Return the first package of each group of a job's packages in these phases, by their order.

    Of many packages the first are looked at.
    """
    rows = store.rows("outline_first_of_groups", job=job, phases=json.dumps(list(phases)),
                      window=GROUPED)  # fmt: skip
    firsts: dict[Alike, int] = {}
    for row in rows:
        firsts.setdefault(_alike(row), row["id"])
    return firsts


def group_of(store: Store, package: int) -> Alike | None:
    """Return the group of a package; None if it was removed."""
    row = store.row("outline_group", package=package)
    return None if row is None else _alike(row)


def _alike(row: Row) -> Alike:
    return row["stage_id"], row["phase"], row["reason"], likeness(row["message"])


def totals(store: Store, jobs: Iterable[int]) -> dict[str, int]:
    """Return how many packages of some jobs are in each phase."""
    found: dict[str, int] = {}
    for row in store.rows("outline_jobs_counts", ids=json.dumps(list(jobs))):
        found[row["phase"]] = found.get(row["phase"], 0) + row["n"]
    return found


def selected(store: Store, wanted: Selector, now: float) -> "array[int]":
    """Return the ids of all packages of a selector. Raises NotFound if a level does not exist."""
    found = choose(store, wanted, now=now, lenient=True)
    return array("q", (row[0] for row in found.rows("outline_selected")))


def beside(
    store: Store, job: int, phases: Iterable[str], package: int, *, forward: bool
) -> int | None:
    """Return the next package in one of these phases after `package`, or the last one before it."""
    found = [
        store.value("outline_next_in_phase", job=job, phase=phase, after=package)
        if forward
        else store.value("outline_previous_in_phase", job=job, phase=phase, before=package)
        for phase in phases
    ]
    there = [int(package) for package in found if package is not None]
    if not there:
        return None
    return min(there) if forward else max(there)


def _counts(rows: Iterable[Row], key: str) -> dict[int, dict[str, int]]:
    counts: dict[int, dict[str, int]] = {}
    for row in rows:
        counts.setdefault(row[key], {})[row["phase"]] = row["n"]
    return counts
