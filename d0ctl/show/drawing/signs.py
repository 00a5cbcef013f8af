"""The glyph, word and role of every state: colour alone has no meaning."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from d0ctl.model import STATUS_OF, Counts, Group, Phase, Status, by_status, phase_word
from d0ctl.show.drawing.spans import Span
from d0ctl.units import count, duration, moment

if TYPE_CHECKING:
    from d0ctl.schedule.estimates import Range


class Glyphs(Struct, frozen=True):
    """The signs of an alphabet."""

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
    bell: str


UNICODE = Glyphs(
    states={
        "successful": "✔", "failed": "✘", "running": "▶", "submitted": "·", "canceled": "⊘",
        "waiting": "·", "ready": "○", "cooloff": "◔", "held": "‖", "assigned": "◌",
        "starting": "▷", "staging-in": "⇣", "suspended": "◫", "transferring": "⇡",
        "killing": "⨯", "unreachable": "?", "done": "✔", "dropped": "⊘", "blocked": "⊗",
        "up": "●", "down": "✘", "unknown": "○", "drained": "◒", "paused": "◫",
        "unscheduled": "·", "scheduled": "◌", "launched": "▶", "stands still": "✘",
        "not connected": "○", "aborted": "⊘", "aborting": "⨯", "broken": "✘", "defined": "·",
        "exhausted": "✘", "finished": "✔", "finishing": "▶", "pending": "◔", "prepared": "⇡",
        "scouting": "▷", "straggler": "◷", "takes no packages": "◫",
        "warning": "!",
    },
    bar={"successful": "█", "launched": "▓", "failed": "▒", "canceled": "░"},
    rest="─", open="▾", shut="▸", leaf=" ", mark="◆", point="›", rule="─", upright="│",
    ellipsis="…", arrow="→", sparks="▁▂▃▄▅▆▇█", bell="♪",
)  # fmt: skip

ASCII = Glyphs(
    states={
        "successful": "+", "failed": "x", "running": ">", "submitted": ".", "canceled": "-",
        "waiting": ".", "ready": "o", "cooloff": "~", "held": "=", "assigned": ":",
        "starting": ">", "staging-in": "v", "suspended": "=", "transferring": "^",
        "killing": "!", "unreachable": "?", "done": "+", "dropped": "-", "blocked": "#",
        "up": "+", "down": "x", "unknown": "?", "drained": "/", "paused": "=",
        "unscheduled": ".", "scheduled": ":", "launched": ">", "stands still": "x",
        "not connected": "?", "aborted": "-", "aborting": "!", "broken": "x", "defined": ".",
        "exhausted": "x", "finished": "+", "finishing": ">", "pending": "~", "prepared": "^",
        "scouting": ">", "straggler": "%", "takes no packages": "=",
        "warning": "!",
    },
    bar={"successful": "#", "launched": ">", "failed": "x", "canceled": "-"},
    rest=".", open="v", shut=">", leaf=" ", mark="*", point=">", rule="-", upright="|",
    ellipsis="..", arrow="->", sparks="_.-=+*%#", bell="!",
)  # fmt: skip

ROLES: Mapping[str, str] = {
    "successful": "good", "done": "good", "up": "good",
    "failed": "bad", "down": "bad", "blocked": "bad", "stands still": "bad",
    "takes no packages": "bad",
    "held": "warn", "cooloff": "warn", "unreachable": "warn", "suspended": "warn",
    "killing": "warn", "paused": "warn", "drained": "warn", "straggler": "warn",
    "running": "live", "starting": "live", "staging-in": "live", "transferring": "live",
    "launched": "live", "assigned": "live", "scheduled": "live",
    "canceled": "faint", "dropped": "faint", "waiting": "faint", "submitted": "plain",
    "ready": "plain", "unscheduled": "plain", "unknown": "faint",
    "not connected": "faint", "aborted": "faint", "aborting": "warn", "broken": "bad",
    "defined": "plain", "exhausted": "bad", "finished": "good", "finishing": "live",
    "pending": "warn", "prepared": "live", "scouting": "live", "warning": "warn",
}  # fmt: skip
"""The role of each state."""

STRAGGLER = "straggler"
"""The word for a running package that takes much longer than expected."""

TAKES_NONE = "takes no packages"
"""The state of a node that is up, but has less free space on its disk than its reserve."""

STACK = (("successful", "good"), ("launched", "live"), ("failed", "bad"), ("canceled", "faint"))
"""The parts of a bar, from left to right."""

SOME_OUTDATED = "some out of date"
"""The remark on a job of which successful packages are out of date; `status JOB` says more."""


def role(state: str) -> str:
    """Return the role of a state."""
    return ROLES.get(state, "plain")


def glyph(state: str, glyphs: Glyphs) -> Span:
    """Return the glyph of a state, for use beside a word that says the same."""
    return glyphs.states.get(state, glyphs.states["unscheduled"]), role(state)


def mark(state: str, glyphs: Glyphs) -> list[Span]:
    """Return a state as glyph and word."""
    sign, colour = glyph(state, glyphs)
    return [(f"{sign} ", colour), (state, colour)]


def node_state(state: str, contact: float | None) -> str:
    """Return the name of a node's state for people; it is unknown only before the first contact."""
    return "not connected" if state == "unknown" and contact is not None else state


def phase_name(phase: str, *, blocked: bool = False, late: bool = False) -> str:
    """Return the word for a package's phase; `late` if it runs much longer than expected."""
    if phase == Phase.RUNNING and late:
        return STRAGGLER
    return "blocked" if phase == Phase.WAITING and blocked else phase_word(phase)


def group_name(status: str, counts: Counts) -> str:
    """Return the word for the status of a job, stage or line; if nothing failed, it is blocked."""
    is_blocked = status == Group.FAILED and not counts.get(Phase.FAILED)
    return "blocked" if is_blocked else str(status)


def in_state(phase: str | None, *, blocked: bool = False) -> str:
    """Return what a package is, for a sentence: `in cooloff`, or the word for its phase."""
    return "in cooloff" if phase == Phase.COOLOFF else phase_name(phase or "", blocked=blocked)


def acknowledged(number: int, known: int) -> str:
    """Return a remark in brackets on how many of some failures are acknowledged, or nothing."""
    how_many = "" if number == 1 else "all " if known >= number else f"{known:,} "
    return f" ({how_many}acknowledged)" if known else ""


def badges(counts: Counts, glyphs: Glyphs, acknowledged: int = 0, late: int = 0) -> list[Span]:
    """Return the numbers of failed and unreachable packages and stragglers, after their glyphs."""
    numbers = {"failed": counts.get("failed", 0) - acknowledged,
               "unreachable": counts.get("unreachable", 0), STRAGGLER: late}  # fmt: skip
    return [
        (f"{glyphs.states[phase]}{short(number)}", role(phase))
        for phase, number in numbers.items()
        if number
    ]


def bar(counts: Counts, columns: int, glyphs: Glyphs, earned: float = 0.0) -> list[Span]:
    """Draw progress: successful, launched, failed, canceled, and the rest.

    Every status that occurs gets a column, as long as there is one left. `earned` is the
    finished share of launched packages, in packages.
    """
    totals = by_status(counts)
    everything = sum(totals.values()) or 1
    spans: list[Span] = []
    used = passed = 0
    later = sum(bool(totals[status]) for status, _ in STACK)
    for status, colour in STACK:
        passed += totals[status]
        later -= bool(totals[status])
        reached = passed + (earned if status == "successful" else 0.0)
        end = max(int(reached * columns / everything), used + bool(totals[status]))
        end = min(columns - later, end)
        if end > used:
            spans.append((glyphs.bar[status] * (end - used), colour))
            used = end
    if used < columns:
        spans.append((glyphs.rest * (columns - used), "faint"))
    return spans


def gauge(share: float, columns: int, glyphs: Glyphs) -> list[Span]:
    """Draw a share of a whole."""
    full = round(max(0.0, min(1.0, share)) * columns)
    return [(glyphs.bar["successful"] * full, "live"), (glyphs.rest * (columns - full), "faint")]


def launched(counts: Counts) -> list[tuple[int, str]]:
    """Return how many launched packages do what; those that wait on nodes for a slot do not run.

    Packages that are suspended, or whose node does not answer, are not among them.
    """
    return [
        (counts.get("running", 0) + counts.get("killing", 0), "running"),
        (counts.get("starting", 0), "queued on nodes"),
        (counts.get("staging-in", 0), "staging in"),
        (counts.get("transferring", 0), "transferring"),
    ]


def tally(
    counts: Counts, *, blocked: bool = False, number: Callable[[int], str] = count
) -> list[Span]:
    """Return the counts that are not zero, each with its word; those that need a person first."""
    totals = by_status(counts)
    held, waiting = counts.get("held", 0), counts.get("waiting", 0)
    unreachable, dropped = counts.get("unreachable", 0), counts.get("dropped", 0)
    cooling, suspended = counts.get("cooloff", 0), counts.get("suspended", 0)
    entries = (
        (totals["failed"], "failed", "bad"),
        (held, "held", "warn"),
        (unreachable, "unreachable", "warn"),
        (suspended, "suspended", "warn"),
        *((n, word, "live") for n, word in launched(counts)),
        (totals["scheduled"], "scheduled", "live"),
        (cooling, "cooling off", "warn"),
        (totals["unscheduled"] - held - waiting - cooling, "ready", "plain"),
        (waiting, "blocked" if blocked else "waiting", "bad" if blocked else "faint"),
        (totals["canceled"] - dropped, "canceled", "faint"),
        (dropped, "dropped", "faint"),
    )
    return [(f"{number(n)} {word}", colour) for n, word, colour in entries if n]


def tally_text(counts: Counts, *, blocked: bool = False) -> list[Span]:
    """Return the same as one text with blanks between."""
    return [span for each in tally(counts, blocked=blocked) for span in (("  ", ""), each)][1:]


def short(number: int) -> str:
    """Write a number in at most five columns, rounded down: a part never looks like the whole."""
    if number < 10_000:
        return str(number)
    for unit, factor in (("k", 1_000), ("M", 1_000_000), ("G", 1_000_000_000)):
        if number < 1_000 * factor or unit == "G":
            tenths = 10 * number // factor
            return f"{tenths / 10:.1f}{unit}" if tenths < 1_000 else f"{tenths // 10}{unit}"
    raise AssertionError(number)


def percent(counts: Counts, earned: float = 0.0) -> int:
    """Return how much is successful in percent, with `earned` packages: 100 if that is all."""
    done, total = by_status(counts)["successful"], sum(counts.values())
    share = round(100 * (done + earned) / max(1, total))
    return share if done >= total else min(99, share)


def is_live(phase: str) -> bool:
    """Return whether a package in this phase is launched."""
    return STATUS_OF[Phase(phase)] is Status.LAUNCHED


LATE = "later than estimated"
"""Said of an end whose estimate has passed."""


def estimate(interval: "Range", now: float) -> str:
    """Write a time with its range; if it is soon, only the time left.

    The estimate of a package that runs for longer than ever before is the present time.
    """
    if interval.high <= now:
        return LATE
    if interval.high - now < 60:
        left = interval.middle - now
        return f"in about {duration(left)}" if left >= 1 else "in less than a second"
    low, high = moment(interval.low, now), moment(interval.high, now)
    between = f" ({low} to {high})" if low != high else ""
    return f"about {moment(interval.middle, now)}{between}"
