"""When nodes were busy, as SVG: a bar for each attempt, or the CPUs in use if there are many."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from html import escape

from d0ctl.show.usage.slot_places import places
from d0ctl.store.views.usage import NodeStay
from d0ctl.units import count, duration, iso

COLOURS = {"successful": "#2f9e63", "failed": "#d1453b", "lost": "#e8912d", "killed": "#8a93a0"}
"""The colour of each outcome."""

WIDTH, LEFT, RIGHT = 1000.0, 130.0, 985.0
"""The width of a plot, and where its times begin and end."""

MOST_BARS = 4_000
"""Beyond this many attempts, the CPUs in use are drawn instead."""

MOST_NODES = 40
"""How many nodes are drawn, the busiest first."""

BINS = 240
STRIP, GAP, LANES = 48.0, 10.0, 160.0
"""The heights of a curve, of the space between nodes, and of all slots of a node."""

_STEPS = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200,
          86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000)  # fmt: skip


def svg(stays: Sequence[NodeStay]) -> str:
    """Return the plot of some attempts; empty if there are none."""
    if not stays:
        return ""
    first, last = min(stay.began for stay in stays), max(stay.ended for stay in stays)
    last = max(last, first + 1.0)
    by_node: dict[str, list[NodeStay]] = defaultdict(list)
    for stay in stays:
        by_node[stay.node].append(stay)
    nodes = sorted(by_node, key=lambda name: (-_busy(by_node[name]), name))[:MOST_NODES]
    draw = _curve if len(stays) > MOST_BARS else _slots
    parts, top = [], 0.0
    for name in sorted(nodes):
        height, shapes = draw(by_node[name], first, last, top)
        about = escape(f"{name}: {count(len(by_node[name]), 'attempt')}")
        parts.append(f'<text x="{LEFT - 8:g}" y="{top + min(height, 24) / 2 + 4:g}" class="name">'
                     f"{escape(_cut(name))}<title>{about}</title></text>")  # fmt: skip
        parts += shapes
        top += height + GAP
    axis = "".join(_axis(first, last, top))
    return f'<svg viewBox="0 0 {WIDTH:g} {top + 24:g}" role="img">{axis}{"".join(parts)}</svg>'


def left_out(stays: Sequence[NodeStay]) -> int:
    """Return how many nodes do not fit into the plot."""
    return max(0, len({stay.node for stay in stays}) - MOST_NODES)


def _busy(stays: Sequence[NodeStay]) -> float:
    return sum((stay.ended - stay.began) * stay.cpus for stay in stays)


def _cut(name: str) -> str:
    return name if len(name) <= 18 else f"{name[:17]}…"


def _x(at: float, first: float, last: float) -> float:
    return LEFT + (at - first) / (last - first) * (RIGHT - LEFT)


def _axis(first: float, last: float, bottom: float) -> Iterator[str]:
    """Yield lines and labels at round times."""
    step = next((step for step in _STEPS if (last - first) / step <= 8), _STEPS[-1])
    at = -(-first // step) * step
    while at <= last:
        x = _x(at, first, last)
        text = iso(at) or ""
        label = text[:10] if step >= 86400 else text[11:16] if step >= 60 else text[11:19]
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{bottom:g}" class="grid"/>'
        yield f'<text x="{x:.1f}" y="{bottom + 16:g}" class="tick">{label}</text>'
        at += step


def _slots(stays: Sequence[NodeStay], first: float, last: float, top: float
           ) -> tuple[float, list[str]]:  # fmt: skip
    """Draw each attempt in the first slot that is free when it begins."""
    ordered = sorted(stays, key=lambda stay: (stay.began, stay.ended))
    slots = places((stay.began, stay.ended) for stay in ordered)
    used = 1 + max(slots)
    lane = min(14.0, LANES / used)
    height = max(14.0, lane * used)
    shapes = [f'<rect x="{LEFT:g}" y="{top:g}" width="{RIGHT - LEFT:g}" height="{height:g}" '
              'class="ground"/>']  # fmt: skip
    for slot, stay in zip(slots, ordered, strict=True):
        x = _x(stay.began, first, last)
        width = max(0.8, _x(stay.ended, first, last) - x)
        why = f" ({stay.reason})" if stay.reason else ""
        about = escape(f"{stay.path}: {stay.outcome}{why}, {duration(stay.ended - stay.began)}")
        shapes.append(
            f'<rect x="{x:.1f}" y="{top + slot * lane:.1f}" width="{width:.1f}" '
            f'height="{max(0.8, lane - 1):.1f}" fill="{_colour(stay)}">'
            f"<title>{about}</title></rect>"
        )
    return height, shapes


def _curve(stays: Sequence[NodeStay], first: float, last: float, top: float
           ) -> tuple[float, list[str]]:  # fmt: skip
    """Draw how many CPUs were in use, by outcome, one above the other."""
    wide = (last - first) / BINS
    layers = {outcome: [0.0] * BINS for outcome in COLOURS}
    for stay in stays:
        layer = layers.get(stay.outcome, layers["killed"])
        for index in range(int((stay.began - first) / wide), BINS):
            begin = first + index * wide
            if begin >= stay.ended:
                break
            shared = min(stay.ended, begin + wide) - max(stay.began, begin)
            layer[index] += stay.cpus * max(0.0, shared) / wide
    most = max(map(sum, zip(*layers.values(), strict=True)))
    shapes = [f'<rect x="{LEFT:g}" y="{top:g}" width="{RIGHT - LEFT:g}" height="{STRIP:g}" '
              f'class="ground"><title>at most {most:.1f} CPUs in use</title></rect>']  # fmt: skip
    below = [0.0] * BINS
    for outcome, layer in layers.items():
        above = [height + other for height, other in zip(below, layer, strict=True)]
        if any(layer):
            edge = [_point(index, value, most, top) for index, value in enumerate(above)]
            edge += reversed([_point(index, value, most, top) for index, value in enumerate(below)])
            shapes.append(f'<polygon points="{" ".join(edge)}" fill="{COLOURS[outcome]}"/>')
        below = above
    return STRIP, shapes


def _point(index: int, value: float, most: float, top: float) -> str:
    x = LEFT + (index + 0.5) / BINS * (RIGHT - LEFT)
    return f"{x:.1f},{top + STRIP * (1 - value / (most or 1.0)):.1f}"


def _colour(stay: NodeStay) -> str:
    return COLOURS.get(stay.outcome, COLOURS["killed"])
