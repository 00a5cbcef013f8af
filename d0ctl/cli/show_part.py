"""The screens of a stage, a line and a list of packages, and pieces that other screens share."""

import json
from collections.abc import Callable, Collection, Sequence

from d0ctl.cli import documents
from d0ctl.cli.terminal.output import bar, emit, emit_json, glyph, mark, paint, table, tally
from d0ctl.model import STATUS_OF, Phase, Status, by_status, known_eta
from d0ctl.show.why.common import NEVER_PRODUCED
from d0ctl.store.connection import Store
from d0ctl.store.views import browse
from d0ctl.store.views.shapes import (
    FailureView,
    JobSummary,
    LineSummary,
    PackageRow,
    StageSummary,
)
from d0ctl.units import clean, count, duration, moment
from d0ctl_wrapper.protocol import ranges

MOST_LINES = 40
MOST_IN_DOCUMENT = 1_000
MOST_FAILED = 3
STDERR_LINES = 5


def stage(
    store: Store, job: JobSummary, stage: StageSummary, json: bool, now: float
) -> Callable[[], None]:
    """Read a stage with its first lines; what is returned prints it."""
    lines = browse.lines(store, job, stage, 1, MOST_IN_DOCUMENT if json else MOST_LINES)
    failed = browse.failures(store, job.id, MOST_FAILED, stage.id)
    if json:
        document = {
            "job": job.name, **documents.stage(stage),
            "path": f"{job.name}/{stage.seq}",
            "line_list": [documents.line(one) for one in lines],
            "failed": [documents.failure(one) for one in failed],
        }  # fmt: skip
        return lambda: emit_json(document)
    return lambda: _draw_stage(job, stage, lines, failed, now)


def _draw_stage(
    job: JobSummary,
    stage: StageSummary,
    lines: Sequence[LineSummary],
    failed: Sequence[FailureView],
    now: float,
) -> None:
    path = f"{clean(job.name)}/{stage.seq}"
    emit(f"{paint(path, 'strong')}  {clean(stage.name)}")
    done = by_status(stage.counts)["successful"]
    total = count(sum(stage.counts.values()), "package")
    emit(f"{mark(stage.status)} · {count(done)} of {total} done · {count(stage.lines, 'line')}")
    emit()
    table([_line_row(one) for one in lines], right=(0,), indent="  ")
    if stage.lines > len(lines):
        emit(paint(f"  and {count(stage.lines - len(lines))} more: "
                   f"d0ctl status {path}/{len(lines) + 1}-{len(lines) * 2}", "faint"))  # fmt: skip
    if failed:
        emit()
        emit(paint("failed last", "strong"))
        for one in failed:
            failure(one, now)


def _line_row(line: LineSummary) -> list[str]:
    done = by_status(line.counts)["successful"]
    dropped = paint("dropped", "faint") if line.dropped is not None else ""
    return [
        paint(str(line.seq), "strong"),
        "" if line.name == str(line.seq) else clean(line.name),
        mark(line.status),
        bar(line.counts, 8),
        f"{done}/{sum(line.counts.values())}",
        dropped or tally(line.counts, line.blocked),
    ]


def line(
    store: Store, job: JobSummary, stage: StageSummary, number: int, json: bool, now: float
) -> Callable[[], None]:
    """Read a line with its packages; what is returned prints it."""
    from d0ctl.select import parse

    path = f"{job.name}/{stage.seq}/{number}"
    one = browse.line(store, job, stage, number)
    browse.choose(store, parse(path), now=now)
    rows = browse.chosen(store)
    if json:
        document = {
            "job": job.name, "stage": stage.seq, "stage_name": stage.name, **documents.line(one),
            "path": path, "package_list": [documents.package_row(row) for row in rows],
        }  # fmt: skip
        return lambda: emit_json(document)
    return lambda: _draw_line(path, one, stage, rows, now)


def _draw_line(
    path: str, line: LineSummary, stage: StageSummary, rows: Sequence[PackageRow], now: float
) -> None:
    emit(f"{paint(clean(path), 'strong')}  {clean(line.name)} of {clean(stage.name)}")
    words = [mark(line.status), tally(line.counts, line.blocked)]
    if line.dropped is not None:
        words.append(f"dropped {moment(line.dropped, now)}")
    emit(" · ".join(word for word in words if word))
    emit()
    package_table(rows, now, is_blocked=lambda row: line.blocked)


def packages(
    rows: Sequence[PackageRow], number: int, now: float, blocked_jobs: Collection[str]
) -> None:
    """Print a list of packages, of which there are `number`."""
    if not rows:
        emit("no packages match")
        return
    package_table(
        rows, now, indent="", is_blocked=lambda row: row.path.partition("/")[0] in blocked_jobs
    )
    if number > len(rows):
        emit(paint(f"and {count(number - len(rows))} more: --json prints all", "faint"))


def package_table(
    rows: Sequence[PackageRow],
    now: float,
    indent: str = "  ",
    is_blocked: Callable[[PackageRow], bool] = lambda row: False,
) -> None:
    """Print a line for each package: where it is, how it stands, since when, and why."""
    stuck = {row.id for row in rows if row.phase == Phase.WAITING and is_blocked(row)}
    table(
        [
            [
                f"{glyph(_look(row))} {clean(row.path)}",
                clean(row.name) if row.name != row.path.rpartition("/")[2] else "",
                paint("blocked", "bad") if row.id in stuck else _state(row),
                clean(row.node or ""),
                paint(_age(row, now), "faint"),
                NEVER_PRODUCED
                if row.id in stuck
                else clean(
                    _cut(how_far(row.percent, row.eta, row.line, now, row.phase) or _why(row))
                ),
            ]
            for row in rows
        ],
        indent=indent,
    )


def _look(row: PackageRow) -> str:
    return "held" if row.phase in (Phase.HELD, Phase.COOLOFF) else row.status


def _state(row: PackageRow) -> str:
    return (
        f"{row.phase} ({clean(row.request)})"
        if row.request and row.phase != "killing"
        else row.phase
    )


def _age(row: PackageRow, now: float) -> str:
    """How long it runs, or took; how long ago it changed otherwise."""
    if STATUS_OF[Phase(row.phase)] is Status.LAUNCHED and row.started is not None:
        return duration(now - row.started)
    if row.ended is not None and row.started is not None and row.status in ("successful", "failed"):
        return duration(row.ended - row.started)
    return f"since {moment(row.changed, now)}"


def _why(row: PackageRow) -> str:
    return row.note or row.message or ""


def how_far(
    percent: float | None, eta: float | None, line: str | None, now: float, phase: str = "running"
) -> str:
    """How far a package is, in a few words; empty where its wrapper has not told."""
    words = []
    if percent is not None:
        words.append(f"{percent:.3g} %")
    if (known := known_eta(phase, eta, now)) is not None:
        words.append(f"{duration(known - now)} left")
    elif eta is not None:
        words.append("time left unknown")
    if line:
        words.append(line)
    return " · ".join(words)


def _cut(text: str, width: int = 70) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def failure(one: FailureView, now: float) -> None:
    """Print what failed, why, and the last it said."""
    name = "" if one.name == one.path.rpartition("/")[2] else f" {clean(one.name)}"
    emit(f"  {glyph('failed')} {paint(clean(one.path), 'strong')}{name} on {clean(one.node_name)}, "
         f"{moment(one.ended, now)}: {reason_of(one.reason, one.message)}")  # fmt: skip
    stderr(one.stderr, "      ")


def reason_of(reason: str | None, message: str | None) -> str:
    """A reason with its sentence."""
    words = [clean(word) for word in (reason, message) if word]
    return paint(": ".join(words) or "for no known reason", "bad")


def stderr(text: str | None, indent: str) -> None:
    """Print the last lines of stderr, made harmless."""
    for row in (text or "").rstrip().splitlines()[-STDERR_LINES:]:
        emit(paint(f"{indent}| {clean(row.expandtabs())}", "faint"))


def began(number: int | None, why: str) -> str:
    """Where an attempt began in its chain, and why there."""
    return f"began at binary {number}: {clean(why)}"


def events(text: str) -> str:
    """Which events an attempt has done, by binary; `text` is as it was told."""
    told = []
    for one in json.loads(text):
        done = [tuple(pair) for pair in one["done"]]
        which = f": {ranges.shown(done)}" if done else ""
        told.append(f"binary {one['binary']} did {count(ranges.count(done), 'event')}{which}")
    return ", ".join(told)
