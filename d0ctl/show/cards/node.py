"""The card of a node: its state, its slots, why it takes nothing, and its packages."""

import json
from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct, field

from d0ctl import model
from d0ctl.show.drawing import signs
from d0ctl.show.drawing.remark_texts import drain_note, remark
from d0ctl.show.drawing.sheet import Cell, Sheet
from d0ctl.show.drawing.signs import Glyphs
from d0ctl.show.drawing.spans import Span
from d0ctl.show.explanation import explain
from d0ctl.show.lists import packages
from d0ctl.show.usage import use_plots
from d0ctl.show.why.common import Explanation, slots
from d0ctl.show.why.phases.node_pauses import next_try, room_again, trial
from d0ctl.store.history.use_samples import NodeSample
from d0ctl.store.nodes.draining import BadNode
from d0ctl.store.views.activity import NodeUse
from d0ctl.store.views.shapes import PackageRow
from d0ctl.units import count, listed, moment, size

NO_NODES = "no nodes yet: d0ctl node add NAME [user@]host"


class Node(Struct, frozen=True):
    """Everything on the card, read at one moment."""

    row: model.Node
    use: NodeUse
    why: Explanation
    live: list[PackageRow]
    samples: list[NodeSample] = field(default_factory=list)
    disk: int | None = None
    late: Collection[int] = ()
    """The ids of stragglers."""


def draw(sheet: Sheet, node: Node, now: float) -> None:
    """Draw the card."""
    row = node.row
    state = "drained" if row.drained and row.state == "up" else row.state
    sheet.add((row.name, "strong"), f"  {row.destination or 'this machine'}")
    since = row.drained_at if state == "drained" else row.since
    history = f" since {moment(since, now)}, last heard {moment(row.contact, now)}"
    if row.load is not None and row.state == "up":
        history += f", load {row.load:.1f} then"
    sheet.add(signs.mark(signs.node_state(state, row.contact), sheet.glyphs), (history, "faint"))
    facts = json.loads(row.facts or "{}")
    used = slots(node.use, row.cpus, " slots in use")
    details = [used, size(row.memory),
            count(row.gpus, "GPU") if row.gpus else "",
            row.platform, speed(row), facts.get("os"), f"python {facts.get('python') or '?'}",
            f"cluster {row.cluster}"]  # fmt: skip
    sheet.say("; ".join(str(word) for word in details if word), "faint")
    sheet.add(signs.gauge(node.use.used / max(1, row.cpus), min(40, sheet.columns), sheet.glyphs))
    explain(sheet, node.why)
    last = None if row.contact is None or row.load is None else (row.contact, row.load)
    use_plots.node(sheet, node.samples, row.cpus, row.memory, node.disk, now, last)
    sheet.head("running here", count(len(node.live), "package"))
    packages(sheet, node.live, now, late=node.late)


def cells(
    row: model.Node,
    use: NodeUse,
    bad: BadNode | None,
    now: float,
    glyphs: Glyphs,
    remarks: Iterable[Span] = (),
) -> list[Cell]:
    """Return the line of a node, in columns; `bad` is why d0ctl has drained it."""
    notes: list[Span] = []
    if bad is not None:
        notes += [(f"drained by d0ctl: {remark(bad.evidence)}", "warn"), (trial(bad, now), "plain")]
        notes += [(room, "good")] if (room := room_again(row, bad, now)) else []
    elif row.drained:
        when = f" since {moment(row.drained_at, now)}" if row.drained_at else ""
        notes.append((f"drained{when}: {drain_note(row.drain_note) or 'no reason given'}", "warn"))
    if row.last_error:
        notes.append((row.last_error, "bad"))
    if soon := next_try(row, now):
        notes.append((soon, "plain"))
    notes += remarks
    state = signs.node_state(row.state, row.contact)
    since = f"since {moment(row.since, now)}" if row.since else ""
    if state != row.state:
        since = f"last heard {moment(row.contact, now)}"
    return [
        (row.name, "strong"),
        signs.mark(state, glyphs),
        slots(use, row.cpus, " in use"),
        row.destination or "this machine",
        row.platform,
        speed(row),
        (since, "faint"),
        [span for note in notes for span in (("; ", "plain"), note)][1:],
    ]


def speed(row: model.Node) -> str:
    """Return the speed of a node; empty for that of a standard node if nobody set it."""
    is_known = row.speed_asked is not None or row.speed_measured is not None
    return f"speed {row.speed:g}" if is_known else ""


def finding(sheet: Sheet, ok: bool | None, subject: str, detail: str, advice: str) -> None:
    """Draw a finding of `node check`; `ok` is None for a neutral fact."""
    sign = " " if ok is None else signs.glyph("successful" if ok else "failed", sheet.glyphs)
    sheet.add(sign, f" {subject:<20} {detail}")
    if advice:
        sheet.add((f"    {advice}", "faint"))


def logged_in(destination: str) -> str:
    """Say that a login exists."""
    return f"logged in to `{destination}`: d0ctl uses it until `d0ctl node logout {destination}`"


def logged_out(destination: str, *, was_there: bool) -> str:
    """Say that a login has ended, or that there was none."""
    return f"logged out of `{destination}`" if was_there else f"not logged in to `{destination}`"


def drained_before(names: Sequence[str]) -> str:
    """Say that nodes were drained before this command."""
    are = "is" if len(names) == 1 else "are"
    return f"{listed([f'`{name}`' for name in names])} {are} already drained"


def emptied(names: Sequence[str]) -> str:
    """Say that drained nodes have no packages any more."""
    return f"no packages are left on {listed([f'`{name}`' for name in names])}"


def still_has(row: model.Node, packages: int) -> str:
    """Say that packages are left on a node, which may have been resumed meanwhile."""
    resumed = "" if row.drained else "is not drained any more, and "
    return f"`{row.name}` {resumed}still has {count(packages, 'package')}: d0ctl why {row.name}"


def stays(row: model.Node, use: NodeUse, packages: int) -> str:
    """Say why packages on a drained node do not end now; empty if they may."""
    if row.state == "down":
        return f"`{row.name}` is down with {count(packages, 'package')}: d0ctl why {row.name}"
    if use.suspended and use.used == use.suspended:
        return f"packages are suspended: d0ctl status '*:suspended' --node {row.name}"
    return ""
