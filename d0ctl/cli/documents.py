"""The JSON documents of the reading verbs; their keys are a contract."""

import json
from typing import Any

from d0ctl.model import STATUS_OF, Status, known_eta
from d0ctl.select import parse
from d0ctl.show.binary import Binary
from d0ctl.show.live_status import TIMES, LiveStatus
from d0ctl.store.attempts import node_record
from d0ctl.store.connection import Row, Store
from d0ctl.store.files.selection import FileRow
from d0ctl.store.views import browse, choice
from d0ctl.store.views.left_out import Shortfall, short_packages
from d0ctl.store.views.left_out import shortfall as shortfall_of
from d0ctl.store.views.shapes import (
    AttemptView,
    EventView,
    FailureView,
    JobSummary,
    LineSummary,
    NoteView,
    PackageRow,
    PackageView,
    ProgressView,
    StageSummary,
)
from d0ctl.units import iso

Document = dict[str, Any]

LIVE = tuple(phase for phase, status in STATUS_OF.items() if status is Status.LAUNCHED)

MOST_FILES = 1_000
"""How many inputs, and how many outputs, a package's document lists; what is missing first."""

MOST_LIVE, MOST_FAILED, MOST_LINES = 8, 3, 1_000
"""How many packages and lines a job's or stage's document lists."""


def job(job: JobSummary) -> Document:
    """A job in the list of all."""
    return {
        "job": job.name,
        "title": job.title,
        "status": job.status,
        "originator": job.originator,
        "priority": job.priority,
        "submitted": iso(job.submitted),
        "ended": iso(job.ended),
        "held": hold(job),
        "paused": bool(job.pause),
        "pause": pause(job),
        "finishing": finish(job),
        "blocked": job.counts.get("waiting", 0) if job.blocked else 0,
        "packages": browse.statuses(job.counts),
        "phases": dict(job.counts),
    }


def hold(job: JobSummary) -> Document | None:
    """Who holds a job, why and since when; None when nobody does."""
    if not job.hold:
        return None
    return {"by": job.hold_actor, "reason": job.hold_note, "since": iso(job.hold_since)}


def pause(job: JobSummary) -> Document | None:
    """Who paused a job, why, since when, and whether running packages are meant; else None."""
    if not job.pause:
        return None
    return {"by": job.pause_actor, "reason": job.pause_note, "since": iso(job.pause_since),
            "running": bool(job.pause_running)}  # fmt: skip


def finish(job: JobSummary) -> Document | None:
    """Who lets a job come to its end, how, why and since when; None where nobody does."""
    if job.finish is None:
        return None
    return {"by": job.finish_actor, "reason": job.finish_note, "since": iso(job.finish_since),
            "how": job.finish}  # fmt: skip


def shortfall(one: Shortfall | None) -> Document | None:
    """What a package goes without; None where it gets all its inputs."""
    if one is None:
        return None
    return {"path": one.path, "inputs": one.given, "of": one.asked, "missing": list(one.names)}


def stage(stage: StageSummary) -> Document:
    """A stage with its counts."""
    return {
        "stage": stage.seq,
        "name": stage.name,
        "status": stage.status,
        "lines": stage.lines,
        "require": stage.require,
        "packages": browse.statuses(stage.counts),
        "phases": dict(stage.counts),
    }


def line(line: LineSummary) -> Document:
    """A line with its counts."""
    return {
        "line": line.seq,
        "name": line.name,
        "status": line.status,
        "dropped": iso(line.dropped),
        "packages": browse.statuses(line.counts),
        "phases": dict(line.counts),
    }


def package_row(row: PackageRow, now: float) -> Document:
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


def job_card(store: Store, one: JobSummary, now: float) -> Document:
    """All about a job."""
    dropped = browse.dropped_lines(store, one.id)
    short = short_packages(store, one.id) if dropped else []
    return {
        **job(one),
        "dropped": dropped,
        "left_out": [shortfall(each) for each in short],
        "stages": [stage(each) for each in browse.stages(store, one)],
        "nodes": browse.where(store, one.id),
        "running": [
            package_row(row, now) for row in browse.in_phases(store, one.id, LIVE, MOST_LIVE)
        ],
        "failed": [failure(each) for each in browse.failures(store, one.id, MOST_FAILED)],
        "excluded": [exclusion(row) for row in node_record.exclusions(store, one.id)],
    }


def stage_card(store: Store, of: JobSummary, one: StageSummary, now: float) -> Document:
    """All about a stage."""
    lines = browse.lines(store, of, one, 1, MOST_LINES)
    return {
        "job": of.name, **stage(one),
        "path": f"{of.name}/{one.seq}",
        "line_list": [line(each) for each in lines],
        "failed": [failure(each) for each in browse.failures(store, of.id, MOST_FAILED, one.id)],
    }  # fmt: skip


def line_card(store: Store, of: JobSummary, stage: StageSummary, number: int,
              now: float) -> Document:  # fmt: skip
    """All about a line. Raises NotFound."""
    path = f"{of.name}/{stage.seq}/{number}"
    one = browse.line(store, of, stage, number)
    choice.choose(store, parse(path), now=now)
    return {
        "job": of.name, "stage": stage.seq, "stage_name": stage.name, **line(one),
        "path": path, "package_list": [package_row(row, now) for row in choice.chosen(store)],
    }  # fmt: skip


def failure(one: FailureView) -> Document:
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


def attempt(one: AttemptView) -> Document:
    """One try at a package."""
    return {
        "attempt": one.number,
        "node": one.node_name,
        "kind": one.kind,
        "launched": iso(one.launched),
        "started": iso(one.started),
        "ended": iso(one.ended),
        "utc_offset": one.utc_offset,
        "outcome": one.outcome,
        "binary": one.binary,
        "reason": one.reason,
        "message": one.message,
        "exit_code": one.exit_code,
        "signal": one.signal,
        "cpu": one.cpu,
        "rss": one.rss,
        "stderr": one.stderr,
        "began": one.began or 1,
        "began_why": one.began_why,
        "events": json.loads(one.events or "[]"),
        "log": f"{one.base}/attempts/{one.id}" if one.base else None,
        "inputs": one.inputs,
        "inputs_asked": one.inputs_asked,
        "left_out": json.loads(one.left_out) if one.left_out else [],
    }


def event(one: EventView) -> Document:
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


def progress(one: ProgressView | None, phase: str, now: float) -> Document:
    """How far a package in this phase is; all null if its wrapper has not reported."""
    names = ("done", "total", "percent", "eta", "binary", "line", "cpu", "rss", "at")
    if one is None:
        return dict.fromkeys(names)
    reported = {name: getattr(one, name) for name in names}
    eta = known_eta(phase, one.eta, now)
    return {**reported, "eta": iso(eta), "at": iso(one.at)}


def live_status(status: LiveStatus | None) -> Document | None:
    """What a wrapper reports at this moment; None where nothing was reported."""
    if status is None:
        return None
    names = (
        *("phase", "why", "since", "binary", "began", "done", "total", "percent", "line", "eta"),
        *("cpu", "rss", "processes", "disk_free", "last_sign"),
    )
    report = status.report or dict.fromkeys(names)
    values = {name: iso(report[name]) if name in TIMES else report[name] for name in names}
    return {"told": iso(status.at), "state": status.state, "message": status.message, **values}


def note(one: NoteView) -> Document:
    """What a wrapper found worth keeping."""
    return {"attempt": one.number, "at": iso(one.at), "binary": one.binary, "text": one.text}


def package(store: Store, one: PackageView, now: float) -> Document:
    """All about a package."""
    tries = browse.attempts(store, one.id)
    return {
        "path": one.path,
        "job": one.job,
        "stage": one.stage,
        "stage_name": one.stage_name,
        "line": one.line,
        "line_name": one.line_name,
        "package": one.seq,
        "name": one.name,
        "status": one.status,
        "phase": one.phase,
        "node": one.node,
        "request": one.request,
        "note": one.note,
        "actor": one.actor,
        "changed": iso(one.changed),
        "not_before": iso(one.not_before),
        "restarts": one.restarts,
        "cpus": one.cpus,
        "attempts": [attempt(each) for each in tries],
        "failures": [
            {
                "reason": each.reason,
                "count": each.count,
                "last": iso(each.last),
                "message": each.message,
                "node": each.node_name,
            }
            for each in browse.failure_history(store, one.id)
        ],
        "progress": progress(browse.progress(store, one.id), one.phase, now),
        "notes": [note(each) for each in browse.notes(store, one.id)],
        "binaries": [_binary(each) for each in browse.binaries(store, one.id)],
        "left_out": shortfall(shortfall_of(store, one.id, one.path)),
        "inputs": [_input(each) for each in browse.inputs(store, one.id, MOST_FILES)],
        "outputs": [_output(each) for each in browse.outputs(store, one.id, MOST_FILES)],
    }


def file(row: FileRow) -> Document:
    """All about a file; `given` is the disposition that a person set."""
    return {
        "file": f"{row.job}:{row.name}", "job": row.job, "name": row.name, "maker": row.maker,
        "present": bool(row.present), "partial": bool(row.partial), "dropped": bool(row.dropped),
        "size": row.size, "checksum": row.checksum,
        "disposition": row.disposition or row.dispositions, "given": row.disposition,
        "result": bool(row.result), "stored": row.stored, "copies": row.copies,
    }  # fmt: skip


def exclusion(row: Row) -> Document:
    """A node that packages of a job are kept off which failed there, and how the job did there."""
    return {"node": row["name"], "successful": row["successful"], "failed": row["failed"]}


def binary(card: Binary) -> Document:
    """All about a binary, with how it did in each attempt that ran it."""
    view = card.view
    return {
        "path": card.path, "package": card.package.path, "status": card.package.status,
        **_binary(view), "script": view.script, "argv": json.loads(view.argv or "[]") or None,
        "attempts": [{"node": record.node, **_record(record)} for record in card.records],
        "inputs": [_input(file) for file in card.inputs],
        "outputs": [_output(file) for file in card.outputs],
    }  # fmt: skip


def _binary(one: Any) -> Document:
    return {"binary": one.seq, "name": one.name, **_record(one)}


def _record(one: Any) -> Document:
    return {
        "started": iso(one.started), "ended": iso(one.ended),
        "exit_code": one.exit_code, "signal": one.signal, "reason": one.reason,
        "cpu": one.cpu_time, "rss": one.rss, "attempt": one.attempt,
    }  # fmt: skip


def _input(one: Any) -> Document:
    return {
        "file": one.name, "binary": one.binary, "from": one.maker_path, "acquire": one.acquire,
        "disposition": one.disposition, "required": bool(one.required),
        "present": bool(one.present), "dropped": bool(one.dropped), "size": one.size,
    }  # fmt: skip


def _output(one: Any) -> Document:
    return {
        "file": one.name, "binary": one.binary, "present": bool(one.present),
        "dropped": bool(one.dropped), "size": one.size, "checksum": one.checksum,
        "dispositions": one.dispositions.split(), "result": bool(one.result),
        "partial": bool(one.partial), "locator": one.locator, "stored": one.stored_at,
        "copies": one.copies,
    }  # fmt: skip
