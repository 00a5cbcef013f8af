"""The JSON documents of a package, its attempts, binaries and files; their keys are a contract."""

import json
from typing import TYPE_CHECKING, Any

from d0ctl.cli import documents
from d0ctl.cli.documents import time_range
from d0ctl.show.cards.binary import Binary
from d0ctl.store.connection import Store
from d0ctl.store.views import browse
from d0ctl.store.views.job_files import eta
from d0ctl.store.views.left_out import shortfall as shortfall_of
from d0ctl.store.views.shapes import AttemptView, BinaryView, PackageView
from d0ctl.units import iso

if TYPE_CHECKING:
    from d0ctl.cli.schemas import packages

MOST_FILES = 1_000
"""How many inputs, and how many outputs, a package's document lists; missing ones first."""


def attempt(one: AttemptView) -> "packages.Attempt":
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


def package(store: Store, one: PackageView, now: float) -> "packages.Package":
    """All about a package."""
    tries = browse.attempts(store, one.id)
    times = eta.package_times(store, one.id, now=now)
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
        "priority": one.priority,
        "asked": _asked(one),
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
        "estimated_start": time_range(times.start if times else None),
        "estimated_end": time_range(times.end if times else None),
        "progress": documents.progress(browse.progress(store, one.id), one.phase, now),
        "notes": [documents.note(each) for each in browse.notes(store, one.id)],
        "binaries": [_binary(each) for each in browse.binaries(store, one.id)],
        "left_out": documents.shortfall(shortfall_of(store, one.id, one.path)),
        "inputs": [_input(each) for each in browse.inputs(store, one.id, MOST_FILES)],
        "outputs": [_output(each) for each in browse.outputs(store, one.id, MOST_FILES)],
    }


def _asked(one: PackageView) -> "packages.Asked":
    return {
        "memory": one.memory, "disk": one.disk, "wall_time": one.wall_time,
        "looping": one.looping, "platform": one.platform, "nodes": json.loads(one.nodes),
        "exclude_nodes": json.loads(one.exclude_nodes), "wrapper": one.wrapper,
        "wrapper_parameters": json.loads(one.wrapper_parameters or "{}"),
        "environment": json.loads(one.environment or "{}"),
        "policy": json.loads(one.policy or "{}"),
    }  # fmt: skip


def binary(card: Binary) -> "packages.BinaryCard":
    """All about a binary, with its record in each attempt that ran it."""
    view = card.view
    return {
        "path": card.path, "package": card.package.path, "status": card.package.status,
        **_binary(view), "script": view.script, "argv": json.loads(view.argv or "[]") or None,
        "attempts": [{"node": record.node, **_record(record)} for record in card.records],
        "inputs": [_input(file) for file in card.inputs],
        "outputs": [_output(file) for file in card.outputs],
    }  # fmt: skip


def _binary(one: BinaryView) -> "packages.Binary":
    asked: packages.AskedOfBinary = {
        "software": one.software, "image": one.image, "stdin": one.stdin, "shell": one.shell,
        "parameters": json.loads(one.parameters or "{}"), "needs": json.loads(one.needs or "[]"),
        "cpu": one.cpu, "runtime": one.runtime, "work_size": one.work_size,
        "log_rules": json.loads(one.log_rules or "[]"),
        "progress": json.loads(one.progress or "{}"), "check": one.check,
        "check_timeout": one.check_timeout, "events": json.loads(one.events or "{}"),
    }  # fmt: skip
    return {"binary": one.seq, "name": one.name, "asked": asked, **_record(one)}


def _record(one: Any) -> "packages.Record":
    return {
        "started": iso(one.started), "ended": iso(one.ended),
        "exit_code": one.exit_code, "signal": one.signal, "reason": one.reason,
        "cpu": one.cpu_time, "rss": one.rss, "attempt": one.attempt,
    }  # fmt: skip


def _input(one: Any) -> "packages.Input":
    return {
        "file": one.name, "binary": one.binary, "from": one.maker_path, "acquire": one.acquire,
        "disposition": one.disposition, "required": bool(one.required),
        "present": bool(one.present), "dropped": bool(one.dropped), "size": one.size,
        "size_asked": one.size_asked, "checksum": one.checksum, "locator": one.locator,
        "local": one.local_name, "writable": bool(one.writable),
    }  # fmt: skip


def _output(one: Any) -> "packages.Output":
    return {
        "file": one.name, "binary": one.binary, "present": bool(one.present),
        "dropped": bool(one.dropped), "size": one.size, "size_asked": one.size_asked,
        "min_size": one.min_size, "checksum": one.checksum,
        "checksum_asked": one.checksum_asked, "dispositions": one.dispositions.split(),
        "result": bool(one.result),
        "partial": bool(one.partial), "locator": one.locator, "stored": one.stored_at,
        "copies": one.copies,
    }  # fmt: skip
