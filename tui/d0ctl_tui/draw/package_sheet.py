"""What is told of a package: why, what failed, attempts, files, and the last of its log."""

from collections.abc import Sequence

from d0ctl.model import known_eta
from d0ctl.show import signs
from d0ctl.show.sheet import Sheet
from d0ctl.show.spans import Span, cut_front, foreign
from d0ctl.store.views.shapes import AttemptView, BinaryView, InputView, OutputView
from d0ctl.units import count, duration, moment, size
from d0ctl_tui.draw.rows import binary_state
from d0ctl_tui.read.about import Package

FILES = 8
"""How many inputs and outputs are told."""

TRIES = 6
"""How many attempts are told."""

TAIL = 8
"""How many lines of the log are told."""

CHANGES = 12
"""How many changes are told where there is room for all."""


def draw(sheet: Sheet, one: Package, now: float, tail: str | None, *, whole: bool) -> None:
    """Lay out a package; `whole` has room for everything."""
    _head(sheet, one, now)
    _progress(sheet, one, now)
    _why(sheet, one)
    _failures(sheet, one, now)
    _log(sheet, one, tail)
    _binaries(sheet, one.binaries, now)
    _attempts(sheet, one.attempts[-(50 if whole else TRIES) :], now)
    _inputs(sheet, one.inputs, 50 if whole else FILES)
    _outputs(sheet, one.outputs, 50 if whole else FILES)
    _notes(sheet, one, now)
    _changes(sheet, one, now, 500 if whole else CHANGES)


def _head(sheet: Sheet, one: Package, now: float) -> None:
    view = one.view
    sheet.add((foreign(view.path), "strong"), (f"  {foreign(view.name)}", "plain"))
    words: list[Span] = [*signs.mark(view.phase, sheet.glyphs)]
    if view.node:
        words += [(" on ", "faint"), (foreign(view.node), "plain")]
    words.append((f"  since {moment(view.changed, now)}", "faint"))
    sheet.add(*words)
    wants = [count(view.cpus, "cpu")]
    wants += [f"{size(view.memory)} memory"] if view.memory else []
    wants += [f"{size(view.disk)} disk"] if view.disk else []
    wants += [view.platform] if view.platform else []
    wants += [f"at most {duration(view.wall_time)}"] if view.wall_time else []
    tried = count(view.attempts, "attempt") + (
        f", {count(view.restarts, 'restart')}" if view.restarts else ""
    )
    place = f"stage {foreign(view.stage_name)}, line {foreign(view.line_name)}"
    sheet.add((f"{place}; {foreign(', '.join(wants))}; {tried}", "faint"))


def _progress(sheet: Sheet, one: Package, now: float) -> None:
    told = one.progress
    if told is None:
        return
    words = [f"{told.percent:.3g} %"] if told.percent is not None else []
    if told.done is not None and told.total is not None:
        words.append(f"{told.done:,.6g} of {told.total:,.6g}")
    eta = known_eta(one.view.phase, told.eta, now)
    words += [f"ends about {moment(eta, now)}"] if eta is not None else []
    words += [f"{duration(told.cpu)} cpu", size(told.rss), f"told {moment(told.at, now)}"]
    if told.percent is not None:
        columns = min(40, sheet.columns - 2)
        sheet.add(*signs.gauge(told.percent / 100, columns, sheet.glyphs))
    sheet.say(f"binary {told.binary}: {', '.join(words)}")
    if told.line:
        sheet.say(told.line, "faint", indent="  ")


def _notes(sheet: Sheet, one: Package, now: float) -> None:
    if not one.notes:
        return
    sheet.head("notes")
    for note in one.notes:
        where = f"attempt {note.number}" + (f", binary {note.binary}" if note.binary else "")
        sheet.say(f"{moment(note.at, now)} {where}: {note.text}", "faint", indent="- ")


def _why(sheet: Sheet, one: Package) -> None:
    sheet.head("why")
    sheet.say(one.why.answer)
    for fact in one.why.facts:
        sheet.say(fact, "faint", indent="- ")
    sheet.commands(one.why.commands)


def _failures(sheet: Sheet, one: Package, now: float) -> None:
    if not one.failures:
        return
    sheet.head("failure history", "last time and node")
    sheet.table(
        [
            [
                (foreign(failure.reason or "unknown"), "bad"),
                (count(failure.count, "time"), "plain"),
                (moment(failure.last, now), "faint"),
                (foreign(failure.node_name), "faint"),
                (foreign(failure.message), "plain"),
            ]
            for failure in one.failures
        ]
    )


def _log(sheet: Sheet, one: Package, tail: str | None) -> None:
    last = one.attempts[-1] if one.attempts else None
    if last is not None and last.stderr and last.outcome != "successful":
        sheet.head("stderr", "its last words")
        sheet.quote(last.stderr, TAIL)
    if tail:
        sheet.head("log", "the last of it; t shows all")
        sheet.quote(tail, TAIL)


def _binaries(sheet: Sheet, binaries: Sequence[BinaryView], now: float) -> None:
    if len(binaries) < 2:
        return
    sheet.head("binaries")
    sheet.table([_binary(sheet, binary, now) for binary in binaries])


def _binary(sheet: Sheet, binary: BinaryView, now: float) -> list[Span]:
    state = binary_state(binary)
    glyph = sheet.glyphs.states.get(state, " ")
    took = ""
    if binary.started is not None:
        took = f"since {moment(binary.started, now)}"
        if binary.ended is not None:
            took = duration(binary.ended - binary.started)
    code = f"exit {binary.exit_code}" if binary.exit_code else ""
    code = f"signal {binary.signal}" if binary.signal else code
    return [
        (f"{binary.seq} {foreign(binary.name)}", "plain"),
        (f"{glyph} {state}", signs.role(state)),
        (took, "faint"),
        (code, "bad"),
    ]


def _attempts(sheet: Sheet, attempts: Sequence[AttemptView], now: float) -> None:
    if not attempts:
        return
    sheet.head("attempts")
    sheet.table([_attempt(one, now) for one in reversed(attempts)])


def _attempt(one: AttemptView, now: float) -> list[Span]:
    began = one.started if one.started is not None else one.launched
    took = duration(one.ended - began) if one.ended is not None else ""
    look = {"successful": "good", "failed": "bad", "lost": "warn"}.get(one.outcome or "", "plain")
    why = ": ".join(word for word in (one.reason, one.message) if word)
    used = f"{duration(one.cpu)} cpu, {size(one.rss)}" if one.cpu is not None else ""
    return [
        (str(one.number), "strong"),
        (one.outcome or "under way", look),
        (foreign(one.node_name), "plain"),
        (moment(began, now), "faint"),
        (took, "plain"),
        (used, "faint"),
        (foreign(why) or ("" if one.kind == "first" else one.kind), "bad" if why else "faint"),
    ]


def _inputs(sheet: Sheet, inputs: Sequence[InputView], most: int) -> None:
    if not inputs:
        return
    missing = sum(not one.present and not one.dropped for one in inputs)
    sheet.head("inputs", f"{missing} still to come" if missing else "")
    sheet.table([_input(sheet, one) for one in inputs[:most]], give=0)
    _more(sheet, len(inputs), most)


def _input(sheet: Sheet, one: InputView) -> list[Span]:
    gone = one.dropped or one.file_dropped
    state = "dropped" if gone else "done" if one.present else "waiting"
    origin = f"{one.maker_path} {one.maker_phase}" if one.maker_path else "from outside"
    return [
        (cut_front(foreign(one.name), 40, ellipsis=sheet.glyphs.ellipsis), "plain"),
        (sheet.glyphs.states[state], signs.role(state)),
        (size(one.size) if one.size is not None else "", "faint"),
        (foreign(origin), "faint"),
        ("" if one.required else "optional", "faint"),
    ]


def _outputs(sheet: Sheet, outputs: Sequence[OutputView], most: int) -> None:
    if not outputs:
        return
    sheet.head("outputs")
    sheet.table([_output(sheet, one) for one in outputs[:most]])
    _more(sheet, len(outputs), most)


def _output(sheet: Sheet, one: OutputView) -> list[Span]:
    state = "dropped" if one.dropped else "done" if one.present else "waiting"
    kind = "result" if one.result else one.dispositions
    where = "  ".join(one.copies) if one.present else "not made yet"
    return [
        (cut_front(foreign(one.name), 40, ellipsis=sheet.glyphs.ellipsis), "plain"),
        (sheet.glyphs.states[state], signs.role(state)),
        (_size(one), "faint"),
        (foreign(kind), "faint"),
        (foreign(where), "faint"),
    ]


def _size(one: OutputView) -> str:
    known = one.size if one.size is not None else one.size_asked
    return size(known) if known is not None else ""


def _more(sheet: Sheet, number: int, most: int) -> None:
    if number > most:
        sheet.add((f"  and {number - most} more: enter shows them", "faint"))


def _changes(sheet: Sheet, one: Package, now: float, most: int) -> None:
    sheet.head("every change")
    rows = [
        [
            (moment(event.at, now), "faint"),
            (f"{event.old} {sheet.glyphs.arrow} {event.new}", "plain"),
            (foreign(event.node), "faint"),
            (foreign(": ".join(word for word in (event.actor, event.note) if word)), "faint"),
        ]
        for event in reversed(one.events[-most:])
    ]
    if not rows:
        sheet.add(("  none yet", "faint"))
    sheet.table(rows)
