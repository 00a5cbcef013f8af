"""The JSON documents of a package, its attempts, binaries and files; their keys are a contract."""

import json
from collections import defaultdict
from typing import Any

from d0ctl.cli.documents import acknowledgement, shortfall, time_range
from d0ctl.cli.schemas import packages
from d0ctl.cli.schemas.fill import fill
from d0ctl.model import known_eta
from d0ctl.show import card_contents
from d0ctl.show.cards.binary import Binary
from d0ctl.show.drawing.remark_texts import remark
from d0ctl.show.live_status import LiveStatus
from d0ctl.store.connection import Store
from d0ctl.store.nodes.holder import drives
from d0ctl.store.views import one_package
from d0ctl.store.views.job_files import eta
from d0ctl.store.views.left_out import shortfall as find_shortfall
from d0ctl.store.views.shapes.of_package import (
    AttemptView,
    BinaryView,
    InputView,
    NoteView,
    OutputView,
    PackageView,
    ProgressView,
)
from d0ctl.units import iso

MOST_FILES = 1_000
"""How many inputs, and how many outputs, a package's document lists; missing ones first."""


def attempt(view: AttemptView) -> packages.Attempt:
    """Return one try at a package."""
    return fill(
        packages.Attempt,
        view,
        attempt=view.number,
        node=view.node_name,
        began=view.began or 1,
        log=f"{view.base}/attempts/{view.id}" if view.base else None,
    )


def package(store: Store, view: PackageView, now: float) -> packages.Package:
    """Return all about a package."""
    times = eta.package_times(store, view.id, now=now) if drives(store, view.job_id) else None
    lacks = find_shortfall(store, view.id, view.path, view.phase)
    seen = one_package.acknowledgement(store, view.id)
    return fill(
        packages.Package,
        view,
        acknowledged=None if seen is None else acknowledgement(seen.actor, seen.at, seen.note),
        package=view.seq,
        note=remark(view.note),
        asked=fill(packages.PackageRequests, view),
        attempts=[attempt(each) for each in one_package.attempts(store, view.id)],
        failures=[
            fill(packages.Failures, each, node=each.node_name)
            for each in one_package.failure_history(store, view.id)
        ],
        estimated_start=time_range(times.start if times else None),
        estimated_end=time_range(times.end if times else None),
        progress=_progress(one_package.progress(store, view.id), view.phase, now),
        notes=[note(each) for each in one_package.notes(store, view.id)],
        binaries=[_binary(each) for each in one_package.binaries(store, view.id)],
        left_out=None if lacks is None else shortfall(lacks),
        inputs=[_input(each) for each in card_contents.inputs_now(store, view, MOST_FILES)],
        outputs=[_output(each) for each in one_package.outputs(store, view.id, MOST_FILES)],
    )


def _progress(progress: ProgressView | None, phase: str, now: float) -> Any:
    """Return the progress of a package in this phase; all null if its wrapper has not reported."""
    if progress is None:
        return dict.fromkeys(packages.Progress.__annotations__)
    return fill(packages.Progress, progress, eta=iso(known_eta(phase, progress.eta, now)))


def live_status(status: LiveStatus | None) -> packages.LiveStatus | None:
    """Return what a wrapper reports at this moment; None if nothing was reported."""
    if status is None:
        return None
    report = defaultdict(lambda: None, status.report or {})
    return fill(
        packages.LiveStatus,
        report,
        told=iso(status.at),
        state=status.state,
        message=status.message,
    )


def note(view: NoteView) -> packages.Note:
    """Return a remark about an attempt."""
    return fill(packages.Note, view, attempt=view.number, text=remark(view.text))


def binary(card: Binary) -> packages.BinaryCard:
    """Return all about a binary, with its record in each attempt that ran it."""
    return fill(
        packages.BinaryCard,
        card.view,
        **_binary(card.view),
        path=card.path,
        package=card.package.path,
        status=card.package.status,
        argv=json.loads(card.view.argv or "[]") or None,
        attempts=[
            fill(packages.NodeRecord, record, cpu=record.cpu_time) for record in card.records
        ],
        inputs=[_input(file) for file in card.inputs],
        outputs=[_output(file) for file in card.outputs],
    )


def _binary(view: BinaryView) -> packages.Binary:
    asked = fill(packages.BinaryRequests, view)
    return fill(packages.Binary, view, binary=view.seq, asked=asked, cpu=view.cpu_time)


def _input(entry: InputView) -> packages.Input:
    return fill(
        packages.Input,
        entry,
        file=entry.name,
        local=entry.local_name,
        **{"from": entry.maker_path},
    )


def _output(output: OutputView) -> packages.Output:
    return fill(
        packages.Output,
        output,
        file=output.name,
        dispositions=output.dispositions.split(),
        stored=output.stored_at,
    )
