"""Bars with names and values, as SVG."""

from collections.abc import Sequence
from html import escape

from msgspec import Struct

WIDTH, LEFT, RIGHT, STEP, THICK = 480.0, 170.0, 410.0, 22.0, 13.0

MOST_BARS = 12


class Bar(Struct, frozen=True):
    """A bar: its name, its length from 0 to 1, the text behind it, and its colour."""

    name: str
    part: float
    text: str
    colour: str


def svg(bars: Sequence[Bar]) -> str:
    """Return bars one below another, as many as fit."""
    shown, parts = bars[:MOST_BARS], []
    for index, bar in enumerate(shown):
        y, length = index * STEP, max(0.0, min(1.0, bar.part)) * (RIGHT - LEFT)
        name = bar.name if len(bar.name) <= 25 else f"{bar.name[:24]}…"
        parts.append(
            f'<text x="{LEFT - 8:g}" y="{y + 14:g}" class="name">{escape(name)}'
            f"<title>{escape(bar.name)}</title></text>"
            f'<rect x="{LEFT:g}" y="{y + 3:g}" width="{RIGHT - LEFT:g}" height="{THICK:g}" '
            'class="ground"/>'
            f'<rect x="{LEFT:g}" y="{y + 3:g}" width="{length:.1f}" height="{THICK:g}" '
            f'fill="{bar.colour}"/>'
            f'<text x="{RIGHT + 8:g}" y="{y + 14:g}" class="value">{escape(bar.text)}</text>'
        )
    height = max(1, len(shown)) * STEP
    more = len(bars) - len(shown)
    if more:
        parts.append(f'<text x="{LEFT:g}" y="{height + 14:g}" class="value">and {more} more</text>')
        height += STEP
    return f'<svg viewBox="0 0 {WIDTH:g} {height:g}" role="img">{"".join(parts)}</svg>'
