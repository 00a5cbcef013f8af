"""Glyph, word and look of every state: none is told by its colour alone."""

from collections.abc import Mapping
from dataclasses import dataclass

from d0ctl.model import STATUS_OF, Counts, Phase, Status, by_status
from d0ctl_tui.draw.spans import Line, Span

WORD = 12
"""How many columns the longest word of a state takes."""


@dataclass(frozen=True, slots=True)
class Glyphs:
    """The signs that a terminal can show."""

    states: Mapping[str, str]
    bar: Mapping[str, str]
    rest: str
    open: str
    shut: str
    leaf: str
    mark: str
    point: str
    rule: str
    upright: str
    ellipsis: str
    arrow: str
    sparks: str
    dash: str


UNICODE = Glyphs(
    states={
        "successful": "✔", "failed": "✘", "running": "▶", "submitted": "·", "canceled": "⊘",
        "waiting": "·", "ready": "○", "cooloff": "◔", "held": "‖", "assigned": "◌",
        "starting": "▷", "staging-in": "⇣", "suspended": "◫", "transferring": "⇡",
        "killing": "⨯", "unreachable": "?", "done": "✔", "dropped": "⊘", "blocked": "⊗",
        "up": "●", "down": "✘", "unknown": "○", "drained": "◒", "paused": "◫",
        "unscheduled": "·", "scheduled": "◌", "launched": "▶",
    },
    bar={"successful": "█", "launched": "▓", "failed": "▒", "canceled": "░"},
    rest="─", open="▾", shut="▸", leaf=" ", mark="◆", point="›", rule="─", upright="│",
    ellipsis="…", arrow="→", sparks="▁▂▃▄▅▆▇█", dash="–",
)  # fmt: skip

ASCII = Glyphs(
    states={
        "successful": "+", "failed": "x", "running": ">", "submitted": ".", "canceled": "-",
        "waiting": ".", "ready": "o", "cooloff": "~", "held": "=", "assigned": ":",
        "starting": ">", "staging-in": "v", "suspended": "=", "transferring": "^",
        "killing": "!", "unreachable": "?", "done": "+", "dropped": "-", "blocked": "#",
        "up": "+", "down": "x", "unknown": "?", "drained": "/", "paused": "=",
        "unscheduled": ".", "scheduled": ":", "launched": ">",
    },
    bar={"successful": "#", "launched": ">", "failed": "x", "canceled": "-"},
    rest=".", open="v", shut=">", leaf=" ", mark="*", point=">", rule="-", upright="|",
    ellipsis="..", arrow="->", sparks="_.-=+*%#", dash="-",
)  # fmt: skip

LOOKS: Mapping[str, str] = {
    "successful": "good", "done": "good", "up": "good",
    "failed": "bad", "down": "bad", "blocked": "bad",
    "held": "warn", "cooloff": "warn", "unreachable": "warn", "suspended": "warn",
    "killing": "warn", "paused": "warn", "drained": "warn",
    "running": "live", "starting": "live", "staging-in": "live", "transferring": "live",
    "launched": "live", "assigned": "live", "scheduled": "live",
    "canceled": "faint", "dropped": "faint", "waiting": "faint", "submitted": "plain",
    "ready": "plain", "unscheduled": "plain", "unknown": "faint",
}  # fmt: skip
"""The look of each state."""

STACK = (("successful", "good"), ("launched", "live"), ("failed", "bad"), ("canceled", "faint"))
"""What a bar shows, from left to right."""


def state(name: str, glyphs: Glyphs) -> Line:
    """A state as glyph and word."""
    look = LOOKS.get(name, "plain")
    return ((f"{glyphs.states.get(name, glyphs.rest)} ", look), (name, look))


def phase_name(phase: str, *, blocked: bool = False) -> str:
    """The word for a package's phase."""
    return "blocked" if phase == Phase.WAITING and blocked else phase


def badges(counts: Counts, glyphs: Glyphs) -> list[Span]:
    """How many packages below have failed or can't be reached, as glyph and number."""
    return [
        (f"{glyphs.states[phase]}{short(counts[phase])}", LOOKS[phase])
        for phase in ("failed", "unreachable")
        if counts.get(phase)
    ]


def bar(counts: Counts, columns: int, glyphs: Glyphs, earned: float = 0.0) -> Line:
    """How far something is: successful, launched, failed, canceled, and the rest.

    Whatever is there at all takes a column, as long as there is one left. `earned` is how much
    of what runs is done, in packages.
    """
    totals = by_status(counts)
    everything = sum(totals.values()) or 1
    spans: list[Span] = []
    used = passed = 0
    later = sum(bool(totals[status]) for status, _ in STACK)
    for status, look in STACK:
        passed += totals[status]
        later -= bool(totals[status])
        reached = passed + (earned if status == "successful" else 0.0)
        end = max(int(reached * columns / everything), used + bool(totals[status]))
        end = min(columns - later, end)
        if end > used:
            spans.append((glyphs.bar[status] * (end - used), look))
            used = end
    if used < columns:
        spans.append((glyphs.rest * (columns - used), "faint"))
    return tuple(spans)


def gauge(share: float, columns: int, glyphs: Glyphs, look: str = "live") -> Line:
    """A share of a whole as a bar."""
    full = round(max(0.0, min(1.0, share)) * columns)
    return ((glyphs.bar["successful"] * full, look), (glyphs.rest * (columns - full), "faint"))


def tally(counts: Counts, *, blocked: bool = False) -> list[Span]:
    """The counts that are not zero, the most telling first, each as a number and a word."""
    totals = by_status(counts)
    held, waiting = counts.get("held", 0), counts.get("waiting", 0)
    lost, dropped = counts.get("unreachable", 0), counts.get("dropped", 0)
    cooling = counts.get("cooloff", 0)
    words = (
        (totals["failed"], "failed", "bad"),
        (held, "held", "warn"),
        (lost, "unreachable", "warn"),
        (totals["launched"] - lost, "running", "live"),
        (totals["scheduled"], "assigned", "live"),
        (cooling, "cooling off", "warn"),
        (totals["unscheduled"] - held - waiting - cooling, "ready", "plain"),
        (waiting, "blocked" if blocked else "waiting", "bad" if blocked else "faint"),
        (totals["canceled"] - dropped, "canceled", "faint"),
        (dropped, "dropped", "faint"),
    )
    return [(f"{short(n)} {word}", look) for n, word, look in words if n]


def short(number: int) -> str:
    """A number in at most five columns."""
    if number < 10_000:
        return str(number)
    for unit, factor in (("k", 1_000), ("M", 1_000_000), ("G", 1_000_000_000)):
        if number < 999.5 * factor or unit == "G":
            scaled = number / factor
            return f"{scaled:.1f}{unit}" if scaled < 99.95 else f"{scaled:.0f}{unit}"
    raise AssertionError(number)


def is_live(phase: str) -> bool:
    """Whether a package in this phase is launched."""
    return STATUS_OF[Phase(phase)] is Status.LAUNCHED
