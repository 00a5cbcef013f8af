"""Lists of packages and failures, and the short texts that cards share."""

import shlex
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from d0ctl.model import STANDING, STATUS_OF, Phase, Status, known_eta
from d0ctl.show.drawing import signs
from d0ctl.show.drawing.remark_texts import remark
from d0ctl.show.drawing.sheet import Cell, Sheet, cell_width
from d0ctl.show.drawing.spans import cut
from d0ctl.store.views.shapes import FailureView, LineSummary, PackageRow, StageSummary
from d0ctl.units import clean, count, duration, likeness, listed, moment

if TYPE_CHECKING:
    from d0ctl.store.files.selected_files import FileRow
    from d0ctl.store.views.shapes.of_package import AttemptView, PackageView

STDERR_LINES = 5
"""How many lines of a failed package's stderr are shown."""

MESSAGE, REST = 70, 50
"""How many columns of a message go into a list at least, and how many the rest of a row takes."""

WHOLE_MESSAGE = 300
"""How many columns of a message go into a list where lines continue below."""

MOST_RESULTS_NAMED, MOST_SELECTORS = 8, 5
"""How many results that are not as others are named, and how many selectors of their lines."""

MOST_BAR, LEAST_BAR = 24, 8
"""How many columns the bar of a stage or line takes."""

MOST_NAMED = 4
"""How many packages are named whose failure is alike."""


FRESH_S = 5.0
"""How old a report may be of a package that is due: a short one reports every two seconds."""

RAN = (Status.LAUNCHED, Status.SUCCESSFUL, Status.FAILED)
"""The statuses of packages whose last attempt is the one that counts."""


def packages(
    sheet: Sheet,
    rows: Sequence[PackageRow],
    now: float,
    *,
    indent: int = 2,
    no_input: Callable[[PackageRow], str] = lambda row: "",
    late: Collection[int] = (),
) -> None:
    """Add a line per package: its state, its node, its age, and its progress or reason.

    `late` has the ids of stragglers; `no_input` says why a blocked one gets no input.
    """
    stuck = {row.id: no_input(row) for row in rows if row.phase == Phase.WAITING}
    cells = [_package(sheet, row, now, stuck.get(row.id, ""), row.id in late) for row in rows]
    sheet.table(cells, indent=indent)


def _package(sheet: Sheet, row: PackageRow, now: float, no_input: str, late: bool) -> list[Cell]:
    phase = signs.phase_name(row.phase, blocked=bool(no_input), late=late)
    request = f" ({row.request})" if row.request and row.phase != Phase.KILLING else ""
    most = WHOLE_MESSAGE if sheet.whole else max(MESSAGE, sheet.columns - REST)
    about = (
        how_far(row.percent, row.eta, row.line, now, row.phase, reported=row.measured)
        or remark(row.note)
        or row.message
    )
    return [
        (row.path, "strong"),
        _names(row),
        [*signs.mark(phase, sheet.glyphs), (request, "plain")],
        row.node,
        (_age(row, now), "faint"),
        no_input or cut(about or "", most, ellipsis=sheet.glyphs.ellipsis),
    ]


def _names(row: PackageRow) -> str:
    """Return the names of the line and the package that are more than their numbers."""
    _, _, line, package = row.path.split("/")
    names = ((row.line_name, line), (row.name, package))
    return "  ".join(name for name, number in names if name and name != number)


def _age(row: PackageRow, now: float) -> str:
    """Return how long a package has run or took, or else when it changed."""
    if row.started is None or STATUS_OF[Phase(row.phase)] not in RAN:
        return f"since {moment(row.changed, now)}"
    until = now if row.last_heard is None else row.last_heard
    return duration(max(0.0, (until if row.ended is None else row.ended) - row.started))


def how_far(
    percent: float | None,
    eta: float | None,
    line: str | None,
    now: float,
    phase: str = "running",
    *,
    reported: float | None = None,
) -> str:
    """Return the progress of a package in a few words; empty if its wrapper reported none.

    The percentage is that of the time when it was `reported`, the time left is from now on.
    """
    facts = []
    if percent is not None:
        facts.append(f"{percent:.3g} %")
    is_fresh = reported is not None and now - reported < FRESH_S and phase not in STANDING
    if eta is not None and is_fresh and eta - now < 1:
        facts.append("due now")
    elif (known := known_eta(phase, eta, now)) is not None:
        facts.append(f"{duration(known - now)} left")
    elif eta is not None:
        facts.append("time left unknown")
    if line:
        facts.append(line)
    return " · ".join(facts)


NOTHING_FAILED = "nothing has failed"


def failures(sheet: Sheet, failed: Sequence[FailureView], now: float) -> None:
    """Add failures with their reasons and the last lines of stderr; those that are alike once."""
    groups: dict[tuple[str, str, str], list[FailureView]] = {}
    for view in failed:
        alike = view.reason or "", likeness(view.message), likeness(view.stderr)
        groups.setdefault(alike, []).append(view)
    for first, *others in groups.values():
        failure(sheet, first, now, STDERR_LINES)
        differ = any((view.message, view.stderr) != (first.message, first.stderr)
                     for view in others)  # fmt: skip
        same_in(sheet, [view.path for view in others], differ=differ)


def same_in(sheet: Sheet, paths: Sequence[str], *, differ: bool) -> None:
    """Say which other packages failed alike; some texts `differ` in numbers."""
    if not paths:
        return
    more = count(len(paths) - MOST_NAMED)
    rest = f" and {more} more" if len(paths) > MOST_NAMED else ""
    same = "the same, but for numbers," if differ else "the same"
    sheet.say(f"{same} in {', '.join(paths[:MOST_NAMED])}{rest}", "faint", indent=" " * 4)


def failure(sheet: Sheet, view: FailureView, now: float, lines: int) -> None:
    """Add a failure with its reason and the last lines of stderr."""
    name = "" if view.name == view.path.rpartition("/")[2] else f" {view.name}"
    sheet.add("  ", signs.glyph("failed", sheet.glyphs), " ", (view.path, "strong"),
              f"{name} on {view.node_name}, {moment(view.ended, now)}")  # fmt: skip
    sheet.say(cause(view.reason, view.message), "bad", indent=" " * 4)
    if view.stderr and not (view.message or "").endswith(view.stderr.strip()):
        sheet.quote(view.stderr, lines)


def last_of(messages: int) -> str:
    """Say, before the message of the last failure, that others had different ones."""
    return f"the last of {messages:,} different messages: " if messages > 1 else ""


def cause(reason: str | None, message: str | None) -> str:
    """Return why something failed."""
    return ": ".join(word for word in (reason, message) if word) or "for no known reason"


def since(package: "PackageView", attempts: Sequence["AttemptView"]) -> float:
    """Return when a package began to run, or ended without a person, as its wrapper says; else when
    d0ctl recorded its phase, which may be later: its node or the daemon was down meanwhile.
    """
    started, ended = (attempts[-1].started, attempts[-1].ended) if attempts else (None, None)
    if package.phase == Phase.RUNNING and started is not None:
        return started
    if package.phase in (Phase.DONE, Phase.FAILED) and package.actor is None and ended is not None:
        return min(ended, package.changed)  # not after it was recorded, whatever clock a node has
    return package.changed


def package_state(
    sheet: Sheet, view: "PackageView", blocked: bool = False, late: bool = False
) -> list[Cell]:
    """Return the state of a package and its node."""
    mark = signs.mark(signs.phase_name(view.phase, blocked=blocked, late=late), sheet.glyphs)
    return [mark, (" on ", "faint"), view.node] if view.node else [mark]


def with_bars(
    sheet: Sheet, rows: list[list[Cell]], parts: Sequence[StageSummary | LineSummary]
) -> None:
    """Add rows, with bars that take the room that is left, if it is enough."""
    widths = [max(map(cell_width, column)) for column in zip(*rows, strict=True)]
    room = sheet.columns - sum(widths) - 2 * (sum(map(bool, widths)) + 2)
    columns = min(MOST_BAR, room)
    for row, part in zip(rows, parts, strict=False):
        row.insert(3, signs.bar(part.counts, columns, sheet.glyphs) if columns >= LEAST_BAR else "")
    sheet.table(rows, give=1)


def not_made_again(names: Sequence[str]) -> str:
    """Say that copied files are those of an earlier run."""
    are = "is the former one" if len(names) == 1 else "are the former ones"
    return f"{_some_files(names)} {are}, not made again yet"


def left_out_dropped(names: Sequence[str]) -> str:
    """Say that files were not copied because they are dropped."""
    are = "is" if len(names) == 1 else "are"
    return f"{_some_files(names)} {are} dropped, and left out"


def results_unlisted(files: Sequence["FileRow"], archive: str = "") -> list[str]:
    """Say which results an update has kept of lines that it removed, and how to leave them out,
    unless they are in an archive.
    """
    rows = [row for row in files if row.unlisted and row.maker]
    if not rows:
        return []
    from d0ctl.select.condense import condense  # late: few jobs have such results

    lines = [str(part) for part in condense({_line_of(row) for row in rows})]
    more = " ..." if len(lines) > MOST_SELECTORS else ""
    drop = shlex.join(["d0ctl", "kill-line", *lines[:MOST_SELECTORS]])
    are, them = ("is of a line", "it") if len(rows) == 1 else ("are of lines", "them")
    text = f"{_some_files([row.name for row in rows])} {are} that the job file no longer has"
    if archive:
        return [text]
    return [f"{text}; to leave {them} out: {drop}{more} --drop-outputs"]


def _line_of(row: "FileRow") -> str:
    return str(row.maker).rpartition("/")[0]


def _some_files(names: Sequence[str]) -> str:
    """Name the first of some files, and count the others."""
    more = len(names) - MOST_RESULTS_NAMED
    others = [f"{count(more)} more"] if more > 0 else []
    return listed([*map(clean, names[:MOST_RESULTS_NAMED]), *others])
