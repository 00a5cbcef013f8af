"""Jobs, stages, lines and packages for display: every read is limited, none counts rows."""

import json
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from d0ctl.errors import NotFound
from d0ctl.model import Counts, Phase, Status, by_status, can_move
from d0ctl.select import WILD, Selector
from d0ctl.store import stage_order
from d0ctl.store.connection import Row, Store
from d0ctl.store.nodes.holder import as_heard
from d0ctl.store.rows import make
from d0ctl.store.views import names
from d0ctl.store.views.shapes import (
    ActionView,
    FailureView,
    JobSettings,
    JobSummary,
    LineSummary,
    PackageRow,
    StageSummary,
)
from d0ctl.units import count, moment

if TYPE_CHECKING:
    from d0ctl.store.views.shapes.of_package import PackageView


def jobs(store: Store, pattern: str = "*") -> list[JobSummary]:
    """Return the jobs whose names match, the newest first."""
    counts: dict[int, dict[str, int]] = {}
    for row in store.rows("jobs_counts", pattern=pattern):
        counts.setdefault(row["job_id"], {})[row["phase"]] = row["n"]
    final = stage_order.final_counts(store)
    return [
        make(JobSummary, row, counts=counts.get(row["id"], {}), final=final.get(row["id"], {}),
             blocked=is_blocked(store, row, counts.get(row["id"], {})))
        for row in store.rows("jobs", pattern=pattern)
    ]  # fmt: skip


def has_job(store: Store, name: str) -> bool:
    """Return whether there is a job of that name, or any that matches a pattern."""
    return bool(store.rows("jobs", pattern=name))


def directory(store: Store, job: int) -> str:
    """Return the folder of the file that a job was submitted from."""
    return str(store.value("job_directory", job=job))


def is_blocked(store: Store, job: Row, counts: Counts) -> bool:
    """Return whether waiting packages of a job wait for files that will never be made."""
    if not counts.get("waiting") or can_move(counts):
        return False
    return job["ended"] is not None or not stage_order.goes_on(store, job["id"])


def job(store: Store, name: str) -> JobSummary:
    """Return the job of that name. Raises NotFound, with the nearest name."""
    found = jobs(store, name)
    if not found:
        raise no_such_job(store, name)
    return found[0]


def settings(store: Store, job: int) -> JobSettings:
    """Return the job file's settings for a job as a whole, besides its summary."""
    row = store.row("job_settings", job=job)
    assert row is not None
    parsed = {key: json.loads(row[key]) for key in ("parameters", "policy")}
    return make(JobSettings, row, **parsed)


def no_such_job(store: Store, name: str) -> NotFound:
    """Return the error for a job that does not exist."""
    if error := names.archived(store, name) or names.elsewhere(store, name):
        return error
    if name in names.nodes(store):
        return NotFound(f"there is no job `{name}`", hint=f"`{name}` is a node: d0ctl why {name}")
    known = names.jobs(store)
    lacks = ("there is no job" if WILD.isdisjoint(name) else "no job matches") + f" `{name}`"
    if (whole := name.partition("/")[0]) != name and whole in known:
        return NotFound(f"`{name}` is not a whole job", hint=f"did you mean `{whole}`?")
    if row := store.row("removal_of_name", name=name):
        done = {"remove": "removed it", "archive": "archived it"}
        did = done.get(row["verb"], "removed the node of this name")
        lacks += f" ({row['actor']} {did} at {moment(row['at'], time.time())})"
    otherwise = "d0ctl status" if known else "there are no jobs: d0ctl run FILE"
    if row and row["verb"] == "archive":  # its archive is not here
        return NotFound(lacks, hint="d0ctl archives")
    if row and row["verb"] == "node remove":
        otherwise = f"d0ctl history --node {name}"
    return NotFound(lacks, hint=nearest(name, known) or otherwise)


def nearest(word: str, names: Iterable[str]) -> str | None:
    """Return a hint at the name that was probably meant: the first with a number, or the nearest.

    Jobs of the same file are numbered, as `mc-001`.
    """
    from d0ctl.jobfile.yaml.faults import near

    known = [(name, *name.rpartition("-")) for name in names]
    numbered = (name for name, stem, _, number in known if stem == word and number.isdigit())
    meant = next(numbered, None) or near(word, [name for name, *_ in known])
    return f"did you mean `{meant}`?" if meant else None


def stage_counts(store: Store, job: int) -> dict[int, dict[str, int]]:
    """Return how many packages of each stage of a job are in each phase."""
    counts: dict[int, dict[str, int]] = {}
    for row in store.rows("stages_counts", job=job):
        counts.setdefault(row["stage_id"], {})[row["phase"]] = row["n"]
    return counts


def stages_with_priority(store: Store, job: int) -> list[int]:
    """Return the numbers of the stages whose packages have a priority of their own."""
    return [row[0] for row in store.rows("stages_with_priority", job=job)]


def stages(store: Store, job: JobSummary) -> list[StageSummary]:
    """Return the stages of a job."""
    counts = stage_counts(store, job.id)
    return [
        make(StageSummary, row, counts=counts.get(row["id"], {}), blocked=job.blocked)
        for row in store.rows("stages", job=job.id)
    ]


def stage(store: Store, job: JobSummary, wanted: Selector) -> StageSummary:
    """Return the stage that a selector names. Raises NotFound, saying which there are."""
    there = stages(store, job)
    for summary in there:
        if wanted.stage_name == summary.name or (not wanted.stage_name and
                                               wanted.stage.first == summary.seq):  # fmt: skip
            return summary
    if wanted.stage_name:
        names = [summary.name for summary in there]
        hint = nearest(wanted.stage_name, names)
        raise NotFound(f"job `{job.name}` has no stage `{wanted.stage_name}`",
                       hint=hint or f"it has {listing(names)}")  # fmt: skip
    raise NotFound(
        f"job `{job.name}` has {numbers('stage', len(there))}, so there is no stage {wanted.stage}",
        hint=f"d0ctl status {job.name}",
    )


def listing(names: list[str]) -> str:
    """Return the first of some names, quoted."""
    quoted = [f"`{name}`" for name in names[:8]]
    return ", ".join(quoted) + (" ..." if len(names) > 8 else "")


def numbers(noun: str, last: int) -> str:
    """Return which numbers there are of something that is counted from 1."""
    if last == 0:
        return f"no {noun}s"
    return f"{noun}s 1 to {last:,}" if last > 1 else f"just one {noun}"


def lines(
    store: Store, job: JobSummary, stage: StageSummary, first: int, last: int
) -> list[LineSummary]:
    """Return a page of the lines of a stage, with their counts."""
    page = {"stage": stage.id, "first": first, "last": last}
    counts: dict[int, dict[str, int]] = {}
    for row in store.rows("lines_counts", **page):
        counts.setdefault(row["line_id"], {})[row["phase"]] = row["n"]
    known = acknowledged(store, stage, first, last)
    return [
        make(LineSummary, row, counts=counts.get(row["id"], {}),
             acknowledged=known.get(row["id"], 0),
             blocked=job.blocked or is_stuck(counts.get(row["id"], {})))
        for row in store.rows("lines", **page)
    ]  # fmt: skip


def acknowledged(store: Store, stage: StageSummary, first: int, last: int) -> dict[int, int]:
    """Return how many failures are acknowledged, by the lines of a page that have any."""
    if not stage.acknowledged:
        return {}
    rows = store.rows("outline_lines_acknowledged", stage=stage.id, first=first, last=last)
    return {row["line_id"]: row["n"] for row in rows}


def is_stuck(counts: Counts) -> bool:
    """Return whether the rest of a line waits for a failed package: nothing else moves."""
    return bool(counts.get("failed") and counts.get("waiting")) and not can_move(counts)


def is_package_blocked(store: Store, job: JobSummary, package: "PackageView") -> bool:
    """Return whether a package waits for a file that will never be made."""
    if package.phase != Phase.WAITING:
        return False
    rows = store.rows("lines_counts", stage=package.stage_id, first=package.line, last=package.line)
    return job.blocked or is_stuck({row["phase"]: row["n"] for row in rows})


def line(store: Store, job: JobSummary, stage: StageSummary, number: int) -> LineSummary:
    """Return one line. Raises NotFound, saying which there are."""
    lines_found = lines(store, job, stage, number, number)
    if not lines_found:
        raise NotFound(
            f"stage `{job.name}/{stage.seq}` has {numbers('line', stage.lines)}, "
            f"so there is no line {number}",
            hint=f"d0ctl status {job.name}/{stage.seq}",
        )
    return lines_found[0]


def package(store: Store, wanted: Selector) -> "PackageView":
    """Return one package. Raises NotFound, saying what there is instead."""
    of_job = job(store, wanted.job)
    of_stage = stage(store, of_job, wanted)
    row = store.row(
        "package_by_path", job=of_job.name, stage=of_stage.seq, line=wanted.line.first,
        package=wanted.package.first,
    )  # fmt: skip
    if row is None:
        of_line = line(store, of_job, of_stage, wanted.line.first)
        path = f"{of_job.name}/{of_stage.seq}/{of_line.seq}"
        raise NotFound(
            f"line `{path}` has {numbers('package', sum(of_line.counts.values()))}, "
            f"so there is no package {wanted.package}",
            hint=f"d0ctl status {path}",
        )
    from d0ctl.store.views.shapes.of_package import PackageView  # few pages show a package

    return make(PackageView, row)


def in_phases(store: Store, job: int, phases: Iterable[Phase], limit: int) -> list[PackageRow]:
    """Return a few packages of a job that are in these phases."""
    wanted = {"job": job, "phases": json.dumps(list(phases)), "limit": limit}
    return as_heard(store, PackageRow, store.rows("packages_in_phases", **wanted))


def verb_of_held(store: Store, job: int, *, mixed: str = "release") -> str:
    """Return the command for the held packages of a job; `mixed` if not a pause holds all."""
    verbs = {0.0: "release", 1.0: "resume"}
    return verbs.get(store.value("share_of_paused", job=job), mixed)


def in_stage(
    store: Store, stage: int, line: int | None, phases: Iterable[Phase], limit: int
) -> list[PackageRow]:
    """Return a few packages of a stage, or of one line of it, that are in these phases."""
    names = json.dumps(list(phases))
    rows = store.rows("packages_in_stage", stage=stage, line=line, phases=names, limit=limit)
    return as_heard(store, PackageRow, rows)


def failures(store: Store, job: int, limit: int, stage: int | None = None) -> list[FailureView]:
    """Return the latest failures of a job or stage that are still failed."""
    return [
        make(FailureView, row)
        for row in store.rows("recent_failures", job=job, limit=limit, stage=stage)
    ]


def where(store: Store, job: int) -> dict[str, int]:
    """Return on which nodes a job is live, with how many packages."""
    return {row["name"]: row["n"] for row in store.rows("job_nodes", job=job)}


def actions(store: Store, job: str, limit: int) -> list[ActionView]:
    """Return the actions of people on a job, the latest first."""
    return [make(ActionView, row) for row in store.rows("actions_on", job=job, limit=limit)]


def produces(store: Store, job: str, file: str) -> bool | None:
    """Return whether a job makes a file; None if there is no such job."""
    if not has_job(store, job):
        return None
    return store.row("file_of_job", job=job, name=file) is not None


def statuses(counts: Counts) -> dict[str, int]:
    """Return the six statuses with their counts, in their order."""
    totals = by_status(counts)
    return {status.value: totals[status] for status in Status}


def failed_transfers(store: Store, job: int) -> list[str]:
    """Return a few files of a job that could not be transferred, and why."""
    return [
        f"`{row['name']}` is not transferred yet after {count(row['tries'], 'try', 'tries')}: "
        f"{row['last_error']}"
        for row in store.rows("files_not_transferred", job=job, limit=3)
    ]


def successful_beside(store: Store, package: "PackageView") -> str | None:
    """Return the path of a package of its stage that has succeeded, best one that does the same."""
    of = {"job": package.job_id, "stage": package.stage_id, "seq": package.seq}
    return cast("str | None", store.value("successful_beside", **of))
