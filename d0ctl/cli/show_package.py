"""The screen of one package: its files, attempts, failures, binaries and logs."""

import json as json_module
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from d0ctl.cli import documents, show_part
from d0ctl.cli.terminal.output import emit, emit_json, glyph, mark, paint, table
from d0ctl.show.why import recovery
from d0ctl.show.why.common import NEVER_PRODUCED
from d0ctl.store.connection import Store
from d0ctl.store.views import browse
from d0ctl.store.views.left_out import Shortfall, shortfall
from d0ctl.store.views.shapes import (
    AttemptView,
    BinaryRecord,
    BinaryView,
    Failures,
    InputView,
    NoteView,
    OutputView,
    PackageView,
    ProgressView,
)
from d0ctl.units import clean, count, duration, moment, size

MOST_FILES = 12
MOST_NOTES = 12


@dataclass(frozen=True, slots=True)
class Picture:
    """All that the screen of a package shows, read at one moment."""

    package: PackageView
    binaries: list[BinaryView]
    inputs: list[InputView]
    outputs: list[OutputView]
    attempts: list[AttemptView]
    failures: list[Failures]
    short: Shortfall | None
    progress: ProgressView | None
    ends_until: float | None
    is_blocked: bool
    notes: list[NoteView]
    now: float


def drawing(store: Store, package: PackageView, json: bool, now: float) -> Callable[[], None]:
    """Read the package; what is returned prints it."""
    if json:
        document = documents.package(store, package)
        return lambda: emit_json(document)
    picture = Picture(
        package=package,
        binaries=browse.binaries(store, package.id),
        inputs=browse.inputs(store, package.id),
        outputs=browse.outputs(store, package.id),
        attempts=browse.attempts(store, package.id),
        failures=browse.failure_history(store, package.id),
        short=shortfall(store, package.id, package.path),
        progress=browse.progress(store, package.id),
        is_blocked=browse.is_package_blocked(store, browse.job(store, package.job), package),
        ends_until=recovery.ends_by_itself_until(store, package),
        notes=browse.notes(store, package.id, MOST_NOTES),
        now=now,
    )
    return lambda: draw(picture)


def draw(picture: Picture) -> None:
    """Print the screen."""
    _head(picture)
    _progress(picture.progress, picture.package.phase, picture.now)
    _binaries(picture.binaries, picture.package.attempts)
    show_inputs(picture.inputs)
    if picture.short is not None:
        emit(f"  it goes with {clean(picture.short.sentence())}")
    show_outputs(picture.outputs)
    _attempts(picture.attempts, picture.now)
    _failures(picture.failures, picture.now)
    _notes(picture.notes, picture.now)
    path = picture.package.path
    emit()
    commands = [f"d0ctl why {path}", f"d0ctl history {path}"]
    if picture.attempts:
        commands.insert(1, f"d0ctl logs {path}")
    emit(paint("    ".join(commands), "faint"))


def _head(picture: Picture) -> None:
    package, now = picture.package, picture.now
    name = "" if package.name == str(package.seq) else f"{clean(package.name)}, "
    emit(f"{paint(clean(package.path), 'strong')}  {name}"
         f"stage {clean(package.stage_name)}, line {clean(package.line_name)}")  # fmt: skip
    words = [mark(package.status)]
    if package.phase not in (package.status, "done"):
        words.append("blocked" if picture.is_blocked else package.phase)
    words.append(f"since {moment(package.changed, now)}")
    if package.node:
        words.append(f"on {clean(package.node)}")
    if package.request:
        words.append(f"request: {clean(package.request)}")
    emit(" · ".join(words))
    if picture.ends_until is not None:
        emit(f"its binary may end by itself until {moment(picture.ends_until, now)}")
    if picture.is_blocked:
        emit(f"it is blocked: {NEVER_PRODUCED}")
    if package.phase == "cooloff":
        emit(clean(recovery.cooling(package.not_before, package.note, now)))
    elif package.note:
        by = f"{clean(package.actor)}: " if package.actor else ""
        emit(f"{by}{clean(package.note)}")
    if package.phase == "held" and package.actor == recovery.BY_POLICY:
        emit(recovery.held(package.not_before, now))
    emit(paint(f"asks for {_wishes(package)}", "faint"))


def _progress(one: ProgressView | None, phase: str, now: float) -> None:
    if one is None:
        return
    words = show_part.how_far(one.percent, one.eta, clean(one.line), now, phase)
    used = f"cpu {duration(one.cpu)}, {size(one.rss)} of memory"
    emit(f"binary {one.binary}: {words or 'under way'} · {used} · told {moment(one.at, now)}")


def _failures(failures: Sequence[Failures], now: float) -> None:
    """Print the failure history, which later successes do not change."""
    if not failures:
        return
    emit()
    emit(paint("failures", "strong"))
    rows = [[clean(one.reason or "unknown"), count(one.count, "time"),
             f"last {moment(one.last, now)} on {clean(one.node_name)}", clean(one.message or "")]
            for one in failures]  # fmt: skip
    table(rows, indent="  ")


def _notes(notes: Sequence[NoteView], now: float) -> None:
    if not notes:
        return
    emit()
    emit(paint("notes", "strong"))
    for one in notes:
        where = f", binary {one.binary}" if one.binary else ""
        emit(f"  {moment(one.at, now)}  attempt {one.number}{where}: {clean(one.text)}")


def _wishes(package: PackageView) -> str:
    words = [count(package.cpus, "cpu")]
    if package.memory:
        words.append(f"{size(package.memory)} of memory")
    if package.disk:
        words.append(f"{size(package.disk)} of disk")
    if package.platform:
        words.append(f"platform {clean(package.platform)}")
    if nodes := json_module.loads(package.nodes):
        words.append(f"node {clean(' or '.join(nodes))}")
    if nodes := json_module.loads(package.exclude_nodes):
        words.append(f"not {clean(', '.join(nodes))}")
    return ", ".join(words)


def _binaries(binaries: Sequence[BinaryView], last: int) -> None:
    """Print each binary, and the attempt that ran it last where that is not the last attempt."""
    emit()
    emit(paint("binaries", "strong"))
    table(
        [
            [
                str(one.seq),
                clean(one.name),
                ending(one),
                duration(one.ended - one.started) if one.ended and one.started else "",
                f"cpu {duration(one.cpu_time)}" if one.cpu_time is not None else "",
                f"peak {size(one.rss)}" if one.rss else "",
                f"attempt {one.attempt}" if one.attempt not in (None, last) else "",
            ]
            for one in binaries
        ],
        indent="  ",
    )


def ending(one: BinaryView | BinaryRecord) -> str:
    """How a binary ended, in a word or two."""
    if one.signal is not None:
        return paint(f"signal {one.signal}", "bad")
    if one.exit_code is not None:
        return f"exit {one.exit_code}" if one.exit_code == 0 else paint(f"exit {one.exit_code}",
                                                                        "bad")  # fmt: skip
    return "started" if one.started else "-"


def show_inputs(inputs: Sequence[InputView]) -> None:
    """Print the files that are read, and where they come from."""
    shown = [one for one in inputs if not one.own]
    if not shown:
        return
    emit()
    emit(paint("inputs", "strong"))
    table([_input(one) for one in shown[:MOST_FILES]], indent="  ")
    _and_more(shown)


def _input(one: InputView) -> list[str]:
    if one.dropped:
        state = "dropped"
    elif one.present:
        state = f"{glyph('successful')} {size(one.size) if one.size is not None else 'there'}"
    elif one.maker_phase == "done":
        state = "removed: not needed any more"
    else:
        state = "missing" if one.required else "not there yet"
    maker = f"from {one.maker_path} ({one.maker_phase})" if one.maker_path else one.acquire
    return [clean(one.name), state, paint(clean(maker), "faint")]


def show_outputs(outputs: Sequence[OutputView]) -> None:
    """Print the files that are made, and where they are."""
    if not outputs:
        return
    emit()
    emit(paint("outputs", "strong"))
    table([_output(one) for one in outputs[:MOST_FILES]], indent="  ")
    _and_more(outputs)


def _output(one: OutputView) -> list[str]:
    if one.dropped:
        state = "dropped"
    elif one.late and (one.present or one.made):
        state = f"{glyph('successful')} {count(one.made, 'file')}"
    elif one.present:
        state = f"{glyph('successful')} {size(one.size)}"
    else:
        state = "removed: not needed any more" if one.is_purged else "not made yet"
    kind = "result" if one.result else one.dispositions
    kind = f"{kind} partial".strip() if one.partial else kind
    places = [*one.copies, *(f"stored at {locator}" for locator in one.stored_at)]
    return [clean(one.name), state, paint(kind, "faint"), paint(clean("  ".join(places)), "faint")]


def _and_more(files: Sequence[object]) -> None:
    if len(files) > MOST_FILES:
        emit(paint("  and more: --json prints all", "faint"))


def _attempts(attempts: Sequence[AttemptView], now: float) -> None:
    if not attempts:
        return
    emit()
    emit(paint("attempts", "strong"))
    for one in attempts[-10:]:
        began = one.started if one.started is not None else one.launched
        took = duration((one.ended if one.ended is not None else now) - began)
        words = [f"{one.number}", clean(one.node_name), moment(began, now), took,
                 one.outcome or "under way"]  # fmt: skip
        if one.kind != "first":
            words.append(one.kind)
        if one.inputs is not None:
            words.append(f"{count(one.inputs)} of {count(one.inputs_asked or 0)} inputs")
        if one.reason:
            words.append(show_part.reason_of(one.reason, one.message))
        emit("  " + "  ".join(words))
        if one.began_why:
            emit(paint(f"      {show_part.began(one.began, one.began_why)}", "faint"))
        if one.events:
            emit(paint(f"      {show_part.events(one.events)}", "faint"))
        show_part.stderr(one.stderr if one.outcome != "successful" else None, "      ")
        if one.base:
            emit(paint(f"      {clean(one.base)}/attempts/{one.id}", "faint"))
