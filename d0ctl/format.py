"""The only place where values become words for people: sizes, times, counts, foreign text."""

import time
from collections.abc import Iterable
from datetime import UTC, datetime
from math import isfinite

EARLIEST, LATEST = -62_000_000_000.0, 253_300_000_000.0
"""The first and last time that is shown; others are shown as these."""

LONGEST_S = 1e12
"""The longest time that is shown, some 30,000 years."""

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def clean(text: str, *, lines: bool = False) -> str:
    """Make a text from outside harmless: control characters and escapes are shown, never sent.

    With `lines`, newlines and tabs stay what they are.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or (lines and c in "\n\t") else _shown(c) for c in text)


def _shown(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(character, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def count(number: int, noun: str = "", plural: str = "") -> str:
    """Write a number with its noun: `1 package`, `12,000 packages`."""
    if not noun:
        return f"{number:,}"
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def times(number: int) -> str:
    """Write how often: `once`, `3 times`."""
    return "once" if number == 1 else count(number, "time")


def listed(words: Iterable[str], last: str = "and") -> str:
    """Join words as in a sentence."""
    *front, back = list(words) or [""]
    return f"{', '.join(front)} {last} {back}" if front else back


def size(number: float | None) -> str:
    """Write bytes as people read them; a dash where they are not known."""
    if number is None or not isfinite(number):
        return "-"
    for unit in _UNITS:
        if abs(number) < 999.5 or unit == _UNITS[-1]:
            break
        number /= 1000
    if abs(number) >= 1e6:
        return f"{number:.1e} {unit}"
    return f"{number:.0f} {unit}" if number >= 10 or unit == "B" else f"{number:.1f} {unit}"


def duration(seconds: float | None) -> str:
    """Write a length of time in its two largest units."""
    if seconds is None or not isfinite(seconds):
        return "-"
    seconds = min(max(0.0, seconds), LONGEST_S)
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"


def moment(at: float | None, now: float) -> str:
    """Write a time on the clock of whoever reads it; the day only where it is another."""
    if at is None or not isfinite(at):
        return "-"
    there, here = time.localtime(_in_range(at)), time.localtime(now)
    if there[:3] == here[:3]:
        return time.strftime("%H:%M:%S", there)
    return time.strftime("%d %b %H:%M" if there[0] == here[0] else "%d %b %Y %H:%M", there)


def iso(at: float | None) -> str | None:
    """Write a time as ISO 8601 in UTC, None where there is none."""
    if at is None or not isfinite(at):
        return None
    text = datetime.fromtimestamp(_in_range(at), UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def _in_range(at: float) -> float:
    """A time that a calendar has, from the year 1 to 9998."""
    return min(max(EARLIEST, at), LATEST)
