"""The lines around the tree: header, nodes, events, rates, keys."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, takewhile
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from d0ctl.show.cards.jobs import STANDS_STILL
from d0ctl.show.drawing import signs
from d0ctl.show.drawing.signs import Glyphs
from d0ctl.show.drawing.spans import EMPTY, Line, Span, fit, foreign, pad, spread, width
from d0ctl.show.why.common import slots
from d0ctl.store.nodes.leases import LEASE
from d0ctl.store.views.activity import NodeUse
from d0ctl.units import count, moment
from d0ctl_tui.commands import Command
from d0ctl_tui.draw import task_rows
from d0ctl_tui.draw.rates import MINUTE, STRETCH_S, Rates, plot
from d0ctl_tui.draw.row_cells import clock
from d0ctl_tui.read.snapshot import NodeLine, Snapshot

ALWAYS = ("help", "quit", "back")
"""Keys that the last line never omits."""

NO_NODES = "no nodes yet: d0ctl node add NAME [user@]host"

NAME, WIDEST = 18, 32
"""The most columns of the name of a node in a narrow strip, and of the gauge of its slots."""

LEAST_NOTE = 10
"""How many columns of a node's note are worth showing."""


def header(
    snapshot: Snapshot,
    drivers: Sequence[str] | None,
    home: str,
    stale: str,
    hidden: str,
    changed: float,
    columns: int,
    glyphs: Glyphs,
) -> Line:
    """Return home, hidden jobs, driver, nodes, packages that need a person, the last change.
    An archive has no `drivers`, so its nodes are left out, as while these are not read yet.
    """
    snapshot = replace(snapshot, nodes=()) if drivers is None else snapshot
    left: list[Span] = [(" d0ctl ", "title")]
    left += [(f" {foreign(hidden)} ", "stale")] if hidden else []
    if stale:
        shown = foreign(stale.replace(f"{home}/", ""))
        return fit([*left, (f" {'stale: ' if snapshot.at else ''}{shown} ", "stale")], columns)
    folder = f" {foreign(home.replace(str(Path.home()), '~', 1))} " if columns >= 150 else ""
    last = f"changed {moment(changed, snapshot.at)} " if changed else ""
    base = [*left, (folder, "faint"), (" ", "")]
    driver, short = (_driver(drivers, snapshot, glyphs, short=brief) for brief in (False, True))
    problems, numbers = _problems(snapshot, glyphs), _problems(snapshot, glyphs, short=True)
    nodes, brief, slots = _nodes_up(snapshot), _nodes_up(snapshot, short=True), _slots(snapshot)
    is_bad = any(role == "bad" for _, role in nodes)
    for spans, clock_text in (
        ([*driver, *nodes, *slots, *problems], last), ([*driver, *nodes, *slots, *problems], ""),
        ([*short, *nodes, *slots, *problems], ""), ([*short, *nodes, *problems], ""),
        *[([*short, *up, *numbers], "") for up in (nodes, brief)] * is_bad,
        ([*driver, *problems], ""), ([*short, *problems], ""), ([*short, *numbers], ""),
    ):  # fmt: skip
        if width(base) + width(spans) + len(clock_text) + bool(clock_text) <= columns:
            return spread([*base, *spans], [(clock_text, "faint")], columns)
    return fit([*numbers, ("  ", ""), *short], columns, ellipsis=glyphs.ellipsis)


def _problems(snapshot: Snapshot, glyphs: Glyphs, *, short: bool = False) -> list[Span]:
    """Return how many packages need a person, by phase, and how many tasks, jobs and files do."""
    spans: list[Span] = []
    for state, number, word, short_word in _needs(snapshot):
        text = f"{glyphs.states[state]} {signs.short(number)} {short_word if short else word}"
        spans += [("  " if short else "   ", ""), (text.rstrip(), signs.role(state))]
    return spans


def _needs(snapshot: Snapshot) -> Iterator[tuple[str, int, str, str]]:
    """Yield what needs a person: a state with its glyph, how many, the word for it, a short one.

    The short word is empty where the glyph says enough.
    """
    for state in ("failed", "held", "unreachable", "blocked"):
        if number := snapshot.needing_a_person(state):
            yield state, number, state, ""
    if number := len(snapshot.stragglers):
        yield signs.STRAGGLER, number, "straggler" if number == 1 else "stragglers", ""
    if number := len(snapshot.stopped):
        yield STANDS_STILL, number, STANDS_STILL if number == 1 else "stand still", "still"
    if number := sum(snapshot.untransferred.values()):
        noun = "file" if number == 1 else "files"
        yield "failed", number, f"{noun} not transferred", noun
    if number := len(snapshot.tasks):
        worst = next(status for status in task_rows.WORST if status in snapshot.tasks.values())
        noun = "task" if number == 1 else "tasks"
        yield worst, number, noun, noun


def past_header(
    snapshot: Snapshot, at: float, removed: Sequence[str], keys: str, columns: int, glyphs: Glyphs
) -> Line:
    """Return the moment of the past that is shown, the jobs that were removed since, how many
    packages needed a person, the keys.
    """
    moment_text = time.strftime("%a %Y-%m-%d %H:%M:%S", time.localtime(at))
    left: list[Span] = [(" d0ctl ", "title"), (f" as it was {moment_text} ", "stale")]
    left += [(f"  without {foreign(', '.join(removed))}, removed since", "warn")] * bool(removed)
    left += _problems(snapshot, glyphs)
    if width(left) + len(keys) + 1 > columns:
        return fit(left, columns, ellipsis=glyphs.ellipsis)
    return spread(left, [(keys, "faint")], columns)


def _nodes_up(snapshot: Snapshot, *, short: bool = False) -> list[Span]:
    """Return how many nodes are up, how many of these are drained, and how many have full disks.

    The short form leaves out the drained ones.
    """
    if not snapshot.nodes:
        return []
    if all(node.state == "unknown" for node in snapshot.nodes):
        known = len(snapshot.nodes)
        return [(f"   {known if short else count(known, 'node')} not connected", "plain")]
    drained = sum(node.state == "drained" and node.is_up for node in snapshot.nodes)
    full = sum(node.state == signs.TAKES_NONE for node in snapshot.nodes)
    up = drained + full + sum(node.state == "up" for node in snapshot.nodes)
    role = "bad" if away(snapshot) else "plain"
    number = f"{len(snapshot.nodes):,}" if short else count(len(snapshot.nodes), "node")
    spans = [(f"   {up}/{number} up", role)]
    spans += [(f", {drained} drained", "warn")] * bool(drained and not short)
    text = "full" if short else f"{'takes' if full == 1 else 'take'} no packages"
    return [*spans, *[(f", {full} {text}", "bad")] * bool(full)]


def away(snapshot: Snapshot) -> list[NodeLine]:
    """Return the nodes that are down."""
    return [node for node in snapshot.nodes if node.state == "down"]


def _slots(snapshot: Snapshot) -> list[Span]:
    """Return how many slots of nodes that take packages, or still run some, are in use."""
    if not snapshot.nodes:
        return []
    nodes = [node for node in snapshot.nodes
             if node.state == "up" or (node.used and node.state != "down")]  # fmt: skip
    used, cpus = sum(node.used for node in nodes), sum(node.cpus for node in nodes)
    staging = sum(node.staging for node in nodes)
    noun = " slot" if cpus == 1 else " slots"
    return [(f"   {slots(NodeUse(used, staging=staging), cpus, noun)}", "plain")]


def _driver(
    drivers: Sequence[str] | None, snapshot: Snapshot, glyphs: Glyphs, *, short: bool
) -> Line:
    if drivers is None:
        return ()
    other, is_old = snapshot.other_home, LEASE in drivers and snapshot.has_old_daemon
    # a daemon that ends has given up its own lease, and its nodes follow
    drives_jobs = any(name.startswith("job ") for name in drivers)
    states = (
        (snapshot.has_full_home, "failed",
         "full disk", "the disk of the home is full: d0ctl doctor"),
        (is_old, "up", "old daemon", "the daemon runs older code: d0ctl daemon restart"),
        (LEASE in drivers, "up", "daemon up", "daemon up"),
        (drives_jobs, "up", "run", "`run` is driving"),
        (other and other.is_newer, "down", "old home", "an old home: d0ctl status"),
        (other, "down", "copied home", "a copied home: d0ctl status"),
        (True, "down", "no daemon", "no daemon: nothing new starts"),
    )  # fmt: skip
    sign, brief, text = next(shown for is_so, *shown in states if is_so)
    role = {"failed": "bad", "down": "warn"}.get(sign, "warn" if is_old else "good")
    return ((f"{glyphs.states[sign]} {brief if short else text}", role),)


def nodes(
    found: Sequence[NodeLine], short: Mapping[str, str], columns: int, now: float, glyphs: Glyphs
) -> list[Line]:
    """Return each node as a line: state, slots in use, load, last contact, problem.

    If their names leave too little room, they are the short ones.
    """
    if not found:
        return [((f" {NO_NODES}", "faint"),)]
    names = {node.name: foreign(node.name) for node in found}
    if max(map(len, names.values())) > columns // 4:
        names |= {name: foreign(part) for name, part in short.items()}
    room = min(max(NAME, columns // 4), max(map(len, names.values())))
    return [_node(node, pad(names[node.name], room), columns, now, glyphs) for node in found]


NODE_ORDERS: Mapping[str, tuple[Callable[[NodeLine], Any], bool]] = {
    "state": (lambda node: node.state == "up", False),
    "name": (lambda node: node.name, False),
    "slots in use": (lambda node: node.used / max(1, node.cpus), True),
    "waiting there": (lambda node: node.ahead + node.staging, True),
    "load": (lambda node: node.load or 0.0, True),
    "last heard": (lambda node: node.contact or 0.0, True),
}
"""What nodes can be sorted by, and whether the largest comes first."""


def ordered(
    found: Sequence[NodeLine], order: str = "state", *, reverse: bool = False
) -> list[NodeLine]:
    """Return the nodes in an order, by default those with a problem first."""
    key, largest_first = NODE_ORDERS[order]
    by_name = sorted(found, key=lambda node: node.name)
    return sorted(by_name, key=key, reverse=largest_first is not reverse)


def _node(node: NodeLine, name: str, columns: int, now: float, glyphs: Glyphs) -> Line:
    role = signs.role(node.state)
    sign = glyphs.states.get(node.state, " ")
    spans: list[Span] = [(f" {sign} ", role), (name, "strong"), (" ", "")]
    if columns >= 30:
        spans += signs.gauge(node.used / max(1, node.cpus), min(WIDEST, columns // 5), glyphs)
    use = NodeUse(node.used, node.ahead, node.staging, node.unreachable, node.suspended)
    spans.append((f" {slots(use, node.cpus)}", "plain"))
    if node.state != "up":
        spans.append((f" {signs.node_state(node.state, node.contact)}", role))
    if node.load is not None and columns >= 56:
        spans.append((f"  load {node.load:.1f}", "faint"))
    if node.contact is not None and columns >= 48:
        contact = (f"  last heard {clock(node.contact, now)}", "faint")
        spans += [contact] if width([*spans, contact]) <= columns else []
    if node.note and columns - width(spans) >= 2 + min(
        LEAST_NOTE, width([(foreign(node.note), "")])
    ):
        spans.append((f"  {foreign(node.note)}", "warn" if node.state == "up" else role))
    return fit(spans, columns, ellipsis=glyphs.ellipsis)


def rates(
    known: Rates, snapshot: Snapshot, columns: int, height: int, glyphs: Glyphs
) -> list[Line]:
    """Return packages that ended over time, with the rate and the totals."""
    if height < 2 or columns < 12:
        return [EMPTY]
    values = known.columns(columns, snapshot.at)
    lines = plot(values, max(1, height - 2), glyphs)
    minutes = known.minutes(columns, snapshot.at)
    rate = f"{signs.short(minutes[-1])} a minute"
    peak = f"peak {signs.short(max(minutes[MINUTE:]))}"  # whole minutes in the shown time
    lines.append(spread([(rate, "plain")], [(peak, "faint")], columns))
    span = f"in the last {columns * STRETCH_S // 60} min"
    ended = f"{signs.short(sum(values))} ended"
    if len(ended) + 1 + len(span) > columns:
        span = span.removeprefix("in the ")
    lines.append(spread([(ended, "good")], [(span, "faint")], columns))
    return lines


def footer(commands: Iterable[Command], columns: int, more: Sequence[Span] = ()) -> Line:
    """Return the most useful keys here, as many as fit, always with help and the way out.
    If some are omitted, help is called `more`.
    """
    spans: list[Span] = [(" ", "")]
    for command in _offered(commands, columns, more):
        spans += _key(command)
    return spread(spans, more, columns) if more else fit(spans, columns)


def command_at(
    commands: Iterable[Command], columns: int, more: Sequence[Span], column: int
) -> Command | None:
    """Return the command at a column of the last line."""
    left = 1
    for command in _offered(commands, columns, more):
        right = left + _key_width(command)
        if left <= column < right:
            return command
        left = right
    return None


def _offered(commands: Iterable[Command], columns: int, more: Sequence[Span]) -> list[Command]:
    known = [command for command in commands if command.foot]
    always = [command for command in known if command.foot in ALWAYS]
    others = [command for command in known if command not in always]
    room = columns - 1 - width(more)
    if sum(map(_key_width, known)) <= room:
        return [*others, *always]
    always = [replace(alway, foot="more") if alway.foot == "help" else alway for alway in always]
    room -= sum(map(_key_width, always))
    offered = takewhile(lambda used: used[1] <= room, zip(
        others, accumulate(map(_key_width, others)), strict=True))  # fmt: skip
    return [*(command for command, _ in offered), *always]


def _key(command: Command) -> list[Span]:
    return [(command.first_key, "key"), (f" {command.foot}  ", "plain")]


def _key_width(command: Command) -> int:
    return width(_key(command))
