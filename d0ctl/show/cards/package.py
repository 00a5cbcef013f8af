"""The card of a package: the reason of its state, failures, attempts, files and notes."""

import json
from collections.abc import Sequence

from msgspec import Struct, field

from d0ctl.model import Phase, known_eta, phase_word
from d0ctl.show.cards import binary
from d0ctl.show.cards.file_lists import WHOLE, Limits, inputs, outputs
from d0ctl.show.drawing import signs
from d0ctl.show.drawing.remark_texts import by_whom, remark
from d0ctl.show.drawing.sheet import Cell, Sheet
from d0ctl.show.explanation import explain
from d0ctl.show.lists import cause, how_far, package_state, since
from d0ctl.show.why.common import Explanation
from d0ctl.store.views.shapes.of_package import (
    Acknowledgement,
    AttemptView,
    BinaryView,
    EventView,
    Failures,
    InputView,
    NoteView,
    OutputView,
    PackageSample,
    PackageView,
    ProgressView,
)
from d0ctl.units import RESOURCES, count, duration, moment, size
from d0ctl_wrapper.protocol.checks import ranges

EVERY_CHANGE = ("every change", "when it was recorded")
"""The heading of changes of phase; the end of an attempt may be earlier."""

LOG_LINES = 8
"""How many lines of a log are shown."""


class Package(Struct, frozen=True):
    """Everything on the card, read at one moment."""

    view: PackageView
    is_blocked: bool
    why: Explanation
    attempts: list[AttemptView]
    binaries: list[BinaryView]
    inputs: list[InputView]
    outputs: list[OutputView]
    failures: list[Failures]
    events: list[EventView]
    progress: ProgressView | None
    notes: list[NoteView]
    acknowledged: Acknowledgement | None = None
    samples: list[PackageSample] = field(default_factory=list)
    is_past: bool = False
    """Whether it is shown as it was; what it requested then is not recorded."""
    last_heard: float | None = None
    """When nodes were heard last, if no process drives packages: an attempt ran until then."""


def draw(
    sheet: Sheet,
    package: Package,
    now: float,
    *,
    log: str | None = None,
    log_key: str = "",
    limits: Limits = WHOLE,
) -> None:
    """Draw the card; `log` is the end of the package's output."""
    _head(sheet, package, now)
    if package.progress is not None:
        progress(sheet, package.progress, package.view.phase, now, _limit(package))
        _use(sheet, package, now)
    explain(sheet, package.why)
    _failures(sheet, package.failures, now)
    _output(sheet, package, log, log_key)
    attempts(sheet, package.attempts[-limits.attempts :], now, package.last_heard)
    binary.list_all(sheet, package.binaries, package.view.attempts, now)
    inputs(sheet, package.inputs, package.attempts, limits, package.view.phase)
    are_left = package.view.phase == Phase.FAILED and any(
        attempt.left_size for attempt in package.attempts
    )
    missing = "not accepted: the attempt failed" if are_left else "not made yet"
    outputs(sheet, package.outputs, limits, missing=missing)
    notes(sheet, package.notes, now)
    if limits.changes:
        changes(sheet, package.events[-limits.changes :], now)


def _head(sheet: Sheet, package: Package, now: float) -> None:
    view = package.view
    name = "" if view.name == str(view.seq) else f"{view.name}, "
    sheet.add((view.path, "strong"), f"  {name}stage {view.stage_name}, line {view.line_name}")
    is_late = "straggler" in package.why.details
    began = since(view, package.attempts)
    sheet.add(*package_state(sheet, view, package.is_blocked, is_late),
              (f"  since {moment(began, now)}", "faint"))  # fmt: skip
    if (seen := package.acknowledged) is not None:
        why = f": {seen.note}" if seen.note else ""
        sheet.say(f"failure acknowledged by {seen.actor} {moment(seen.at, now)}{why}", "faint")
    tries = [count(view.attempts, "attempt")]
    tries += [count(view.restarts, "restart")] if view.restarts else []
    requests = [] if package.is_past else [f"requests {', '.join(_requests(view))}"]
    sheet.add(("; ".join([*requests, ", ".join(tries)]), "faint"))


def _requests(view: PackageView) -> list[str]:
    requests = [
        resource.describe(amount)
        for resource in RESOURCES
        if (amount := getattr(view, resource.name))
    ]
    requests += [f"at most {duration(view.wall_time)}"] if view.wall_time else []
    requests += [f"platform {view.platform}"] if view.platform else []
    if nodes := json.loads(view.nodes):
        requests.append(f"node {' or '.join(nodes)}")
    if nodes := json.loads(view.exclude_nodes):
        requests.append(f"not {', '.join(nodes)}")
    requests += [f"startup script {view.wrapper}"] if view.wrapper else []
    requests += [f"priority {view.priority}"] if view.priority is not None else []
    requests += [f"no progress for at most {duration(view.looping)}"] if view.looping else []
    for text in (view.wrapper_parameters, view.environment):
        requests += [f"{name}={value}" for name, value in json.loads(text or "{}").items()]
    requests += [f"policy for {reason}" for reason in json.loads(view.policy or "{}")]
    return requests


def _limit(package: Package) -> float | None:
    """Return when its wall time ends a running package; None if it has none."""
    started = package.attempts[-1].started if package.attempts else None
    if package.view.phase != Phase.RUNNING or not package.view.wall_time or started is None:
        return None
    return started + package.view.wall_time


def progress(
    sheet: Sheet, view: ProgressView, phase: str, now: float, limit: float | None = None
) -> None:
    """Add the last report of the wrapper; `limit` is when its wall time ends it."""
    if view.percent is not None:
        sheet.add(*signs.gauge(view.percent / 100, min(40, sheet.columns - 2), sheet.glyphs))
    is_late = limit is not None and view.eta is not None and view.eta > limit
    eta = None if is_late else view.eta
    facts = [how_far(view.percent, eta, None, now, phase, reported=view.at) or "running"]
    if view.done is not None and view.total is not None:
        facts.append(f"{view.done:,.6g} of {view.total:,.6g}")
    if is_late and limit is not None:
        facts.append(f"reaches its wall time at {moment(limit, now)}")
    elif (ends := known_eta(phase, view.eta, now)) is not None:
        facts.append(f"ends about {moment(ends, now)}")
    facts += [f"{duration(view.cpu)} of cpu", f"{size(view.rss)} of memory",
              f"reported {moment(view.at, now)}"]  # fmt: skip
    sheet.say(f"binary {view.binary}: {' · '.join(facts)}")
    if view.line:
        sheet.say(view.line, "faint", indent="  ")


def _use(sheet: Sheet, package: Package, now: float) -> None:
    """Add what it uses, over time."""
    if not package.samples:
        return
    from d0ctl.show.usage import use_plots  # late: most packages have none

    last = package.attempts[-1] if package.attempts else None
    asked = last if last and last.cpus else package.view  # an update may have changed the latter
    started = last.started if last else None
    use_plots.package(sheet, package.samples, started, asked.cpus or 1, asked.memory, now)


def _failures(sheet: Sheet, failures: Sequence[Failures], now: float) -> None:
    """Add the failure history, which stays after a later success."""
    if not failures:
        return
    sheet.head("failure history", "last time and node")
    sheet.table([
        [(failure.reason or "unknown", "bad"), count(failure.count, "time"),
         (moment(failure.last, now), "faint"), (failure.node_name, "faint"), failure.message]
        for failure in failures
    ])  # fmt: skip


def _output(sheet: Sheet, package: Package, log: str | None, key: str) -> None:
    last = package.attempts[-1] if package.attempts else None
    errors = (last.stderr or "").rstrip() if last and last.outcome != "successful" else ""
    if errors and not (log or "").rstrip().endswith(errors):  # a log of a failure ends with it
        sheet.head("stderr", "last lines")
        sheet.quote(errors, LOG_LINES)
    if log:
        sheet.head("log", f"last lines; {key} shows all")
        sheet.quote(log, LOG_LINES)


def attempts(
    sheet: Sheet, made: Sequence[AttemptView], now: float, last_heard: float | None = None
) -> None:
    """Add the attempts, the last one first; one that has not ended runs until it was heard."""
    if not made:
        return
    sheet.head("attempts")
    until = now if last_heard is None else last_heard
    sheet.table([_attempt(attempt, now, until) for attempt in reversed(made)])
    for attempt in reversed(made):
        if details := _details(attempt, is_archived=bool(sheet.archive)):
            sheet.say(f"attempt {attempt.number} {'; '.join(details)}", "faint", indent="  ")


def _attempt(attempt: AttemptView, now: float, until: float) -> list[Cell]:
    began = attempt.started if attempt.started is not None else attempt.launched
    role = {"successful": "good", "failed": "bad", "lost": "warn"}.get(
        attempt.outcome or "", "plain"
    )
    used = [f"{duration(attempt.cpu)} of cpu"] if attempt.cpu is not None else []
    used += [f"peak {size(attempt.rss)}"] if attempt.rss else []
    why = cause(attempt.reason, attempt.message) if attempt.reason or attempt.message else ""
    return [
        (str(attempt.number), "strong"),
        (
            attempt.outcome
            or ("running" if attempt.wrapper_started or attempt.started else "starting"),
            role,
        ),
        attempt.node_name,
        (moment(began, now), "faint"),
        duration(max(0.0, (attempt.ended if attempt.ended is not None else until) - began)),
        (", ".join(used), "faint"),
        ("" if attempt.kind == "first" else attempt.kind, "faint"),
        (why, "bad"),
    ]


def _details(attempt: AttemptView, *, is_archived: bool) -> list[str]:
    """Return where an attempt began and why, what it processed, and where its files are."""
    is_there = attempt.base and not is_archived  # an archive takes no files of attempts
    facts = [f"is in {attempt.base}/attempts/{attempt.id}"] if is_there else []
    if attempt.suspended:
        facts.append(f"was suspended for {duration(attempt.suspended)}")
    if attempt.began_why:
        facts.append(f"began at binary {attempt.began}: {attempt.began_why}")
    if attempt.inputs is not None:
        facts.append(f"had {count(attempt.inputs)} of {count(attempt.inputs_asked or 0, 'input')}")
    for each in json.loads(attempt.events or "[]"):
        done = [tuple(pair) for pair in each["done"]]
        which = f": {ranges.summary(done)}" if done else ""
        facts.append(f"binary {each['binary']} did {count(ranges.count(done), 'event')}{which}")
    return facts


def notes(sheet: Sheet, notes: Sequence[NoteView], now: float) -> None:
    """Add remarks about attempts."""
    if not notes:
        return
    sheet.head("notes")
    for note in notes:
        binary = f", binary {note.binary}" if note.binary else ""
        said = f"attempt {note.number}{binary}: {remark(note.text)}"
        sheet.say(f"{moment(note.at, now)} {said}", "faint", indent="- ")


def changes(sheet: Sheet, events: Sequence[EventView], now: float) -> None:
    """Add changes of phase, the latest first."""
    sheet.head(*EVERY_CHANGE)
    sheet.table([
        [
            (moment(event.at, now), "faint"),
            f"{phase_word(event.old)} {sheet.glyphs.arrow} {phase_word(event.new)}",
            (f"attempt {event.attempt}" if event.attempt else "", "faint"),
            (event.node, "faint"),
            (by_whom(event.actor, remark(event.note)), "faint"),
        ]
        for event in reversed(events)
    ])  # fmt: skip
    if not events:
        sheet.add(("  none yet", "faint"))
