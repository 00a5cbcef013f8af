"""Rows of packages and binaries as lines, and their widths."""

import json

from d0ctl.jobfile.spec import INPUTS
from d0ctl.model import STATUS_OF, Phase, Status, known_eta
from d0ctl.policy.remarks import TriedAgain, read
from d0ctl.show.cards import binary
from d0ctl.show.drawing import signs
from d0ctl.show.drawing.remark_texts import gist, remark
from d0ctl.show.drawing.spans import Line, Span, cell_len, foreign, pad, width
from d0ctl.store.lifecycle import PackageRequest
from d0ctl.store.views.shapes import OnlyPackage, PackageRow
from d0ctl.store.views.shapes.of_package import BinaryView
from d0ctl.units import duration, size
from d0ctl_tui.draw.columns import BAR, GAP, Columns, Need
from d0ctl_tui.draw.row_cells import (
    RowContext,
    brief,
    clock,
    fitting,
    front,
    state,
    tail,
)

FINAL = (Status.SUCCESSFUL, Status.FAILED, Status.CANCELED)
"""The statuses of packages that have ended."""

LEAST_S = 1.0
"""The shortest run whose use of CPU is shown: of a shorter one it says nothing."""


def need(row: PackageRow, context: RowContext) -> Need:
    """Return how many columns a package needs."""
    name, time, extras = _name(row, context), _when(row, context), _extras(row, context)
    before = 2 * context.depth + 3
    percent = BAR + GAP if _has_gauge(row) else 0
    return Need(
        before + width(name[:2]), before + width(name),
        width(signs.mark(_phase_name(row, context), context.glyphs)),
        about=percent + cell_len("  ".join(_about(row, context, with_node=True))),
        remark=percent + cell_len("  ".join(_about(row, context, with_node=False))),
        time=len(time), brief=len(brief(time)), node=cell_len(extras["node"]),
        ran=len(extras["ran"]), memory=len(extras["memory"]), cpu=len(extras["cpu"]),
    )  # fmt: skip


def draw(row: PackageRow, columns: Columns, context: RowContext) -> Line:
    """Return a package as a line."""
    glyphs = context.glyphs
    twisty = glyphs.open if context.opened else glyphs.shut
    word = _phase_name(row, context)
    spans = front(_name(row, context), 2, columns, context, twisty)
    spans += state(word, columns, glyphs)
    room = columns.about
    if row.percent is not None and _has_gauge(row) and columns.bar:
        bar = min(columns.bar, BAR)
        spans += [*signs.gauge(row.percent / 100, bar, glyphs), (" " * GAP, "")]
        room -= bar + GAP
    remarks = _about(row, context, with_node=not columns.has("node"))
    about = pad(fitting(remarks, room), room, ellipsis=glyphs.ellipsis)
    spans.append((about, _about_look(row)))
    return (*spans, (" " * GAP, ""), *tail(_extras(row, context), _when(row, context), columns))


def _phase_name(row: PackageRow, context: RowContext) -> str:
    if isinstance(row, OnlyPackage) and row.dropped is not None:
        return "dropped"
    return signs.phase_name(row.phase, blocked=context.blocked, late=bool(context.late))


def _name(row: PackageRow, context: RowContext) -> list[Span]:
    if isinstance(row, OnlyPackage):
        number = str(row.line_seq)
        names = dict.fromkeys(
            word for word in (row.line_name, row.name) if word not in (number, "1")
        )
        return [(number, "strong"), *((f" {foreign(word)}", "plain") for word in names)]
    number = row.path if context.with_path else row.path.rpartition("/")[2]
    name = [(foreign(number), "strong")]
    if row.name != row.path.rpartition("/")[2]:
        name.append((f" {foreign(row.name)}", "plain"))
    return name


def _has_gauge(row: PackageRow) -> bool:
    return row.percent is not None and signs.is_live(row.phase)


def _when(row: PackageRow, context: RowContext) -> str:
    """Return when it ended, or will, as far as that is known."""
    eta = known_eta(row.phase, row.eta, context.now)
    if eta is not None and signs.is_live(row.phase):
        return "~" + clock(eta, context.now, short=True)
    if context.late:
        return "late"
    if (status := STATUS_OF[Phase(row.phase)]) not in FINAL:
        return ""
    is_canceled = status == Status.CANCELED  # perhaps long after its last attempt
    return clock(row.changed if is_canceled or row.ended is None else row.ended, context.now)


def _about(row: PackageRow, context: RowContext, *, with_node: bool) -> list[str]:
    """Return its node and remarks; the reason of a failure comes first."""
    failed = row.phase == Phase.FAILED
    remarks = (
        [f"{row.percent:.0f} %"] if row.percent is not None and signs.is_live(row.phase) else []
    )
    remarks += [row.reason or ""] if failed else []
    remarks += [f"acknowledged by {row.acknowledged}"] if row.acknowledged else []
    remarks += [_node(row, context)] if with_node else []
    note = gist(row.message) if failed else remark(row.note) or ""
    is_said = isinstance(read(row.note), TriedAgain)
    remarks += [f"try {row.attempts}" if row.attempts > 1 and not is_said else "", row.line or ""]
    if row.request == PackageRequest.RESUBMIT:
        note = f"retried: {note}" if note else "retried"
    elif row.request and row.phase != Phase.KILLING:
        remarks.append(f"({row.request})")
    remarks.append(note)
    remarks.append(context.waits_for)
    return [foreign(word) for word in remarks if word]


def _about_look(row: PackageRow) -> str:
    return "bad" if row.phase == Phase.FAILED and not row.acknowledged else "faint"


def _node(row: PackageRow, context: RowContext) -> str:
    return context.nodes.get(row.node, row.node) if row.node else ""


def _extras(row: PackageRow, context: RowContext) -> dict[str, str]:
    """Return its extra columns: of a running package, by its last report."""
    ran = None if row.started is None or row.measured is None else row.measured - row.started
    share = row.cpu / ran if row.cpu is not None and ran and ran >= LEAST_S else None
    return {
        "node": foreign(_node(row, context)),
        "ran": "" if ran is None else duration(ran),
        "memory": size(row.rss) if row.rss else "",
        "cpu": "" if share is None else f"{100 * share:.0f} %",
    }


def need_of_binary(row: BinaryView, context: RowContext) -> Need:
    """Return how many columns a binary needs."""
    name, time = _binary_name(row), _binary_time(row, context)
    before = 2 * context.depth + 3
    return Need(before + width(name), before + width(name),
                width(signs.mark(binary.state(row), context.glyphs)),
                time=len(time), brief=len(brief(time)))  # fmt: skip


def draw_binary(row: BinaryView, columns: Columns, context: RowContext) -> Line:
    """Return a binary as a line."""
    glyphs = context.glyphs
    name = _binary_name(row)
    spans = [*front(name, len(name), columns, context, glyphs.leaf),
             *state(binary.state(row), columns, glyphs)]  # fmt: skip
    command = foreign(_command(row))
    spans.append((pad(command, columns.about, ellipsis=glyphs.ellipsis), "faint"))
    return (*spans, (" " * GAP, ""), *tail({}, _binary_time(row, context), columns))


def _command(row: BinaryView) -> str:
    command = row.script or " ".join(json.loads(row.argv or "[]"))
    return " ".join(command.replace(INPUTS, "{inputs}").split())


def _binary_name(row: BinaryView) -> list[Span]:
    return [(str(row.seq), "strong"), (f" {foreign(row.name)}", "plain")]


def _binary_time(row: BinaryView, context: RowContext) -> str:
    at = row.started if row.ended is None else row.ended
    return "" if row.started is None or at is None else clock(at, context.now)
