"""What stands round the tree: the header, the nodes, the ticker, the rates, the keys."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from d0ctl.format import count, moment
from d0ctl.store.look.pulse import Event
from d0ctl.store.nodes import LEASE
from d0ctl_tui.commands import Command
from d0ctl_tui.draw import looks
from d0ctl_tui.draw.looks import Glyphs
from d0ctl_tui.draw.rates import Rates, plot
from d0ctl_tui.draw.rows import clock
from d0ctl_tui.draw.spans import EMPTY, Line, Span, fit, foreign, pad, spread
from d0ctl_tui.read.beat import Beat, NodeLine

WORDS = {"failed": "failed", "held": "held", "unreachable": "unreachable"}


def header(
    beat: Beat,
    drivers: Sequence[str],
    home: str,
    stale: str,
    changed: float,
    columns: int,
    glyphs: Glyphs,
) -> Line:
    """Where we are, who drives, how full the nodes are, what wants a person; when it changed."""
    left: list[Span] = [(" d0ctl ", "title")]
    if stale:
        told = foreign(stale.replace(f"{home}/", ""))
        return fit([*left, (f" {'stale: ' if beat.at else ''}{told} ", "stale")], columns)
    if columns >= 150:
        left += [(f" {foreign(home.replace(str(Path.home()), '~', 1))} ", "faint")]
    left += [(" ", ""), *_driver(drivers, glyphs)]
    if beat.nodes:
        up = sum(node.state == "up" for node in beat.nodes)
        slots = sum(node.cpus for node in beat.nodes)
        left.append((f"   {up}/{count(len(beat.nodes), 'node')} up", "plain"))
        left.append((f"   {beat.used}/{count(slots, 'slot')}", "plain"))
    for phase, word in WORDS.items():
        if number := beat.trouble(phase):
            look = looks.LOOKS[phase]
            left += [("   ", ""), (f"{glyphs.states[phase]} {looks.short(number)} {word}", look)]
    last = f"changed {moment(changed, beat.at)} " if changed else ""
    return spread(left, [(last, "faint")], columns)


def _driver(drivers: Sequence[str], glyphs: Glyphs) -> Line:
    if LEASE in drivers:
        return ((f"{glyphs.states['up']} daemon up", "good"),)
    if drivers:
        return ((f"{glyphs.states['up']} `run` drives", "good"),)
    return ((f"{glyphs.states['down']} no daemon: nothing new starts", "warn"),)


def nodes(found: Sequence[NodeLine], columns: int, now: float, glyphs: Glyphs) -> list[Line]:
    """Every node on a line: state, slots in use, load, when it was last heard, what is wrong."""
    if not found:
        return [((" no node yet: d0ctl node add NAME [user@]host", "faint"),)]
    name = min(18, max(len(foreign(node.name)) for node in found))
    return [_node(node, name, columns, now, glyphs) for node in ordered(found)]


def ordered(found: Sequence[NodeLine]) -> list[NodeLine]:
    """The nodes, those in trouble first."""
    return sorted(found, key=lambda node: (node.state == "up", node.name))


def _node(node: NodeLine, name: int, columns: int, now: float, glyphs: Glyphs) -> Line:
    look = looks.LOOKS.get(node.state, "plain")
    spans: list[Span] = [
        (f" {glyphs.states.get(node.state, ' ')} ", look),
        (pad(foreign(node.name), name), "strong"),
        (" ", ""),
    ]
    if columns >= 30:
        spans += looks.gauge(node.used / max(1, node.cpus), min(16, columns // 5), glyphs)
    spans.append((f" {node.used}/{node.cpus}", "plain"))
    if node.state != "up":
        spans.append((f" {node.state}", look))
    if node.load is not None and columns >= 56:
        spans.append((f"  load {node.load:.1f}", "faint"))
    if node.contact is not None and columns >= 48:
        spans.append((f"  heard {clock(node.contact, now)}", "faint"))
    if node.note:
        spans.append((f"  {foreign(node.note)}", look))
    return fit(spans, columns, ellipsis=glyphs.ellipsis)


def ticker(events: Iterable[Event], columns: int, now: float, glyphs: Glyphs) -> list[Line]:
    """The latest changes, the newest first."""
    lines = [_event(event, columns, now, glyphs) for event in events]
    return lines or [(("nothing has happened yet", "faint"),)]


def _event(event: Event, columns: int, now: float, glyphs: Glyphs) -> Line:
    spans: list[Span] = [
        (f"{clock(event.at, now)} ", "faint"),
        (f"{glyphs.states.get(event.new, ' ')} ", looks.LOOKS.get(event.new, "plain")),
        (foreign(event.path), "strong"),
        (f" {event.new}", looks.LOOKS.get(event.new, "plain")),
    ]
    if event.node:
        spans.append((f" {foreign(event.node)}", "plain"))
    if event.new == "failed" and event.reason:
        spans.append((f" {foreign(event.reason)}", "bad"))
    if told := ": ".join(word for word in (event.actor, event.note) if word):
        spans.append((f" {foreign(told)}", "faint"))
    return fit(spans, columns, ellipsis=glyphs.ellipsis)


def rates(known: Rates, beat: Beat, columns: int, height: int, glyphs: Glyphs) -> list[Line]:
    """Packages that ended over time, with the rate and the totals."""
    if height < 2 or columns < 12:
        return [EMPTY]
    values = known.columns(columns, beat.at)
    lines = plot(values, max(1, height - 2), glyphs)
    rate = f"{known.a_minute(beat.at):.0f} end a minute"
    peak = f"peak {looks.short(max(values))}"
    lines.append(spread([(rate, "plain")], [(peak, "faint")], columns))
    span = f"{columns * 10 // 60} min"
    done = f"{looks.short(beat.done)} done"
    lines.append(spread([(done, "good")], [(f"the last {span}", "faint")], columns))
    return lines


def footer(commands: Iterable[Command], columns: int, more: Sequence[Span] = ()) -> Line:
    """The keys that are worth knowing here, as many as there is room for."""
    spans: list[Span] = [(" ", "")]
    room = columns - 1 - sum(len(text) for text, _ in more)
    for command in commands:
        if not command.foot:
            continue
        key = command.key.split(" ")[0]
        room -= len(key) + len(command.foot) + 3
        if room < 0:
            break
        spans += [(key, "key"), (f" {command.foot}  ", "plain")]
    return spread(spans, more, columns) if more else tuple(spans)
