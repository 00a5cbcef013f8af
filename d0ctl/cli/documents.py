"""The JSON documents of the reading verbs; their keys are a contract."""

from typing import TYPE_CHECKING, Any, cast

from d0ctl.model import STATUS_OF, Status, known_eta
from d0ctl.schedule.estimates import Range
from d0ctl.schedule.horizon import Horizon
from d0ctl.select import parse
from d0ctl.show.live_status import TIMES, LiveStatus
from d0ctl.store.attempts import node_record
from d0ctl.store.connection import Row, Store
from d0ctl.store.files.selected_files import FileRow
from d0ctl.store.views import activity, browse, selection
from d0ctl.store.views.job_files import eta
from d0ctl.store.views.left_out import Shortfall, short_packages
from d0ctl.store.views.shapes import (
    EventView,
    FailureView,
    JobSummary,
    LineSummary,
    NoteView,
    PackageRow,
    ProgressView,
    StageSummary,
)
from d0ctl.units import iso

if TYPE_CHECKING:
    from d0ctl.cli.schemas import jobs, packages, reports, site

LIVE = tuple(phase for phase, status in STATUS_OF.items() if status is Status.LAUNCHED)

MOST_LIVE, MOST_FAILED, MOST_LINES, MOST_STRAGGLERS = 8, 3, 1_000, 100
"""How many packages and lines a job's or stage's document lists."""


def time_range(found: Range | None) -> "jobs.TimeRange | None":
    """An estimated time; None if it is not known."""
    if found is None:
        return None
    return {"at": iso(found.middle), "low": iso(found.low), "high": iso(found.high)}


def job(job: JobSummary, of: Horizon, now: float) -> "jobs.Job":
    """A job in the list of all."""
    return {
        "job": job.name,
        "title": job.title,
        "status": job.status,
        "originator": job.originator,
        "priority": job.priority,
        "max_running": job.max_running,
        "max_failures": job.max_failures,
        "submitted": iso(job.submitted),
        "ended": iso(job.ended),
        "estimated_end": time_range(eta.at(of.end(job.id), now)),
        "held": hold(job),
        "paused": bool(job.pause),
        "pause": pause(job),
        "finishing": finish(job),
        "blocked": job.counts.get("waiting", 0) if job.blocked else 0,
        "packages": browse.statuses(job.counts),
        "phases": dict(job.counts),
    }


def size_range(found: Range | None) -> "jobs.SizeRange | None":
    """Estimated bytes; None if they are not known."""
    if found is None:
        return None
    return {"low": round(found.low), "middle": round(found.middle), "high": round(found.high)}


def hold(job: JobSummary) -> "jobs.Hold | None":
    """Who holds a job, why and since when; None when nobody does."""
    if not job.hold:
        return None
    return {"by": job.hold_actor, "reason": job.hold_note, "since": iso(job.hold_since)}


def pause(job: JobSummary) -> "jobs.Pause | None":
    """Who paused a job, why, since when, and whether running packages are meant; else None."""
    if not job.pause:
        return None
    return {"by": job.pause_actor, "reason": job.pause_note, "since": iso(job.pause_since),
            "running": bool(job.pause_running)}  # fmt: skip


def finish(job: JobSummary) -> "jobs.Finish | None":
    """Who finishes a job, how, why and since when; None if nobody does."""
    if job.finish is None:
        return None
    return {"by": job.finish_actor, "reason": job.finish_note, "since": iso(job.finish_since),
            "how": job.finish}  # fmt: skip


def shortfall(one: Shortfall | None) -> "jobs.Shortfall | None":
    """What a package lacks; None if it gets all its inputs."""
    if one is None:
        return None
    return {"path": one.path, "inputs": one.given, "of": one.asked, "missing": list(one.names)}


def stage(stage: StageSummary) -> "jobs.Stage":
    """A stage with its counts."""
    return {
        "stage": stage.seq,
        "name": stage.name,
        "status": stage.status,
        "lines": stage.lines,
        "require": stage.require,
        "max_running": stage.max_running,
        "final": bool(stage.final),
        "packages": browse.statuses(stage.counts),
        "phases": dict(stage.counts),
    }


def line(line: LineSummary) -> "jobs.Line":
    """A line with its counts."""
    return {
        "line": line.seq,
        "name": line.name,
        "status": line.status,
        "early_start": bool(line.early_start),
        "dropped": iso(line.dropped),
        "packages": browse.statuses(line.counts),
        "phases": dict(line.counts),
    }


def package_row(row: PackageRow, now: float) -> "jobs.PackageRow":
    """A package in a list."""
    return {
        "path": row.path,
        "name": row.name,
        "status": row.status,
        "phase": row.phase,
        "node": row.node,
        "request": row.request,
        "note": row.note,
        "changed": iso(row.changed),
        "attempts": row.attempts,
        "started": iso(row.started),
        "ended": iso(row.ended),
        "reason": row.reason,
        "message": row.message,
        "percent": row.percent,
        "eta": iso(known_eta(row.phase, row.eta, now)),
    }


def job_card(store: Store, one: JobSummary, now: float) -> "jobs.JobCard":
    """All about a job."""
    dropped, settings = browse.dropped_lines(store, one.id), browse.settings(store, one.id)
    short = short_packages(store, one.id) if dropped else []
    return {
        **job(one, eta.horizon(store, now=now), now),
        "mail": settings.mail,
        "max_alike_failures": settings.most_alike,
        "parameters": settings.parameters,
        "policy": settings.policy,
        "dropped": dropped,
        "left_out": [shortfall(each) for each in short],
        "stages": [stage(each) for each in browse.stages(store, one)],
        "nodes": browse.where(store, one.id),
        "running": [
            package_row(row, now) for row in browse.in_phases(store, one.id, LIVE, MOST_LIVE)
        ],
        "failed": [failure(each) for each in browse.failures(store, one.id, MOST_FAILED)],
        "excluded": [exclusion(row) for row in node_record.exclusions(store, one.id)],
        "stragglers": [
            {
                "path": each.path,
                "node": each.node,
                "started": iso(each.started),
                "expected": each.expected,
                "high": each.high,
            }
            for each in activity.stragglers(store, one.id, MOST_STRAGGLERS, now=now)
        ],
    }


def stage_card(store: Store, of: JobSummary, one: StageSummary, now: float) -> "jobs.StageCard":
    """All about a stage."""
    lines = browse.lines(store, of, one, 1, MOST_LINES)
    return {
        "job": of.name, **stage(one),
        "path": f"{of.name}/{one.seq}",
        "line_list": [line(each) for each in lines],
        "failed": [failure(each) for each in browse.failures(store, of.id, MOST_FAILED, one.id)],
    }  # fmt: skip


def line_card(store: Store, of: JobSummary, stage: StageSummary, number: int,
              now: float) -> "jobs.LineCard":  # fmt: skip
    """All about a line. Raises NotFound."""
    path = f"{of.name}/{stage.seq}/{number}"
    one = browse.line(store, of, stage, number)
    selection.choose(store, parse(path), now=now)
    return {
        "job": of.name, "stage": stage.seq, "stage_name": stage.name, **line(one),
        "path": path, "package_list": [package_row(row, now) for row in selection.chosen(store)],
    }  # fmt: skip


def failure(one: FailureView) -> "jobs.Failure":
    """A failed package with the attempt that says why."""
    return {
        "path": one.path,
        "attempt": one.number,
        "ended": iso(one.ended),
        "node": one.node_name,
        "binary": one.binary,
        "reason": one.reason,
        "message": one.message,
        "exit_code": one.exit_code,
        "signal": one.signal,
        "stderr": one.stderr,
    }


def event(one: EventView) -> "reports.Event":
    """One change of phase."""
    return {
        "at": iso(one.at),
        "from": one.old,
        "to": one.new,
        "attempt": one.attempt,
        "node": one.node,
        "actor": one.actor,
        "note": one.note,
    }


def progress(one: ProgressView | None, phase: str, now: float) -> Any:
    """The progress of a package in this phase; all null if its wrapper has not reported."""
    names = ("done", "total", "percent", "eta", "binary", "line", "cpu", "rss", "at")
    if one is None:
        return dict.fromkeys(names)
    reported = {name: getattr(one, name) for name in names}
    eta = known_eta(phase, one.eta, now)
    return {**reported, "eta": iso(eta), "at": iso(one.at)}


def live_status(status: LiveStatus | None) -> Any:
    """What a wrapper reports at this moment; None if nothing was reported."""
    if status is None:
        return None
    names = (
        *("phase", "why", "since", "binary", "began", "done", "total", "percent", "line", "eta"),
        *("cpu", "rss", "processes", "disk_free", "last_sign"),
    )
    report = status.report or dict.fromkeys(names)
    values = {name: iso(report[name]) if name in TIMES else report[name] for name in names}
    return {"told": iso(status.at), "state": status.state, "message": status.message, **values}


def note(one: NoteView) -> "packages.Note":
    """A remark of a wrapper."""
    return {"attempt": one.number, "at": iso(one.at), "binary": one.binary, "text": one.text}


def file(row: FileRow) -> "site.File":
    """All about a file; `given` is the disposition that a person set."""
    return {
        "file": f"{row.job}:{row.name}", "job": row.job, "name": row.name, "maker": row.maker,
        "present": bool(row.present), "partial": bool(row.partial), "dropped": bool(row.dropped),
        "size": row.size, "checksum": row.checksum,
        "disposition": row.disposition or row.dispositions, "given": row.disposition,
        "result": bool(row.result), "stored": row.stored, "locator": row.locator,
        "copies": cast("list[site.Copy]", row.copies),
    }  # fmt: skip


def exclusion(row: Row) -> "jobs.Exclusion":
    """A node that packages of a job avoid because they failed there, and the job's record there."""
    return {"node": row["name"], "successful": row["successful"], "failed": row["failed"]}
