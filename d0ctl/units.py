"""Sizes, times, fractions, counts and requests: read from text, and written for people."""

import math
import re
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from math import isfinite
from typing import NamedTuple

_SIZES = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_BINARY_SIZES = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50}
_SIZE = r"(?ia)([0-9]+(?:\.[0-9]+)?) ?([KMGTP]?)(i?)B?"
_TIMES = {"d": 86400, "h": 3600, "m": 60, "s": 1}
_TIME = r"(?a)(?:(\d+)d)? ?(?:(\d+)h)? ?(?:(\d+)m)? ?(?:(\d+(?:\.\d+)?)s)?"
_SECONDS = r"(?a)\d+(?:\.\d+)?"
_FRACTION = r"(?a)(\d+(?:\.\d+)?) ?(%?)"

MOST_BYTES = 2**63 - 1
"""The largest value of a database column."""

LEAST_BYTES = 100_000
"""A smaller size of memory or disk probably lacks its unit: no program fits in it."""

LEAST_MEGABYTES = 100
"""A smaller number without a unit was probably meant as GB."""

LEAST_SECONDS = 60
"""A shorter limit without a unit was probably meant in hours or minutes."""

MOST_HOURS = 12
"""A smaller number of seconds was probably meant as hours."""

MOST_DAYS = 366
"""A smaller number without a unit, as the length of a period, was probably meant as days."""

MOST_SECONDS = 100 * 366 * 86400
"""A century; more is surely a mistake."""


@lru_cache(1000)
def parse_size(text: str) -> int:
    """Read `200MB`, `1.5 GiB` or plain bytes; raises ValueError for anything else."""
    found = re.fullmatch(_SIZE, text.strip())
    if not found or (found[3] and not found[2]):
        raise ValueError(f"`{text}` is not a size such as `200MB`, `1.5 GiB` or `4096`")
    prefix = found[2].upper()
    factor = _BINARY_SIZES[prefix] if found[3] else _SIZES[prefix]
    whole, _, part = found[1].partition(".")
    if len(whole) > 19 or (size := _scaled(whole, part, factor)) > MOST_BYTES:
        raise ValueError(f"`{text}` is more bytes than any disk has")
    return size


def without_unit(size: int) -> str | None:
    """Say what a number of bytes was probably meant to be; None if it needs no unit."""
    meant = with_unit(size)
    return f"{size} bytes: did you mean `{meant}`?" if meant else None


def with_unit(size: int) -> str | None:
    """Return a number of bytes with the unit that it probably lacks; None if it needs none."""
    if not 0 < size < LEAST_BYTES:
        return None
    return f"{size}{'GB' if size < LEAST_MEGABYTES else 'MB'}"


def parse_amount(text: str) -> int:
    """Read a size of memory or disk; raises ValueError also for a few bytes without a unit."""
    size = parse_size(text)
    if text.strip().isdigit() and (bytes_meant := without_unit(size)):
        raise ValueError(f"`{text}` would be {bytes_meant}")
    return size


def _scaled(whole: str, part: str, factor: int) -> int:
    """Multiply a decimal number by `factor` without the rounding of floats."""
    return int(whole) * factor + (int(part) * factor // 10 ** len(part) if part else 0)


def format_size(size: int) -> str:
    """Write bytes in the largest decimal unit that `parse_size` reads back exactly."""
    for prefix in "PTGMK":
        if size and size % _SIZES[prefix] == 0:
            return f"{size // _SIZES[prefix]}{prefix}B"
    return f"{size}B" if with_unit(size) else str(size)


@lru_cache(1000)
def parse_time(text: str) -> float:
    """Read `20m`, `1h30m`, `90s`, `2d` or plain seconds; raises ValueError for anything else."""
    stripped = text.strip()
    if len(stripped) > 60:
        raise ValueError(_no_time(f"{stripped[:20]}..."))
    if re.fullmatch(_SECONDS, stripped):
        seconds = float(stripped)
    elif stripped and (found := re.fullmatch(_TIME, stripped)):
        parts = zip(found.groups(), _TIMES.values(), strict=True)
        seconds = sum(float(number) * factor for number, factor in parts if number)
    else:
        raise ValueError(_no_time(text))
    if seconds > MOST_SECONDS:
        raise ValueError(f"`{text}` is more than a hundred years")
    return float(seconds)


def _no_time(text: str) -> str:
    """Say that a text is no time, and what is one."""
    if re.search(r"(?i)\d\s*(w|weeks?|mon?|months?|y|years?)$", text.strip()):
        return f"`{text}` is not a time: days are the largest unit, as in `30d`"
    return f"`{text}` is not a time such as `90s`, `20m`, `1h30m` or `30d`"


def time_without_unit(text: str, unit: str | None = None) -> str | None:
    """Say what a short time without a unit was probably meant to be; None if it is clear.

    Without a likely `unit`, a small number was probably meant as hours, a larger one as minutes.
    """
    number = text.strip()
    if not re.fullmatch(r"(?a)\d+", number) or not 0 < int(number) < LEAST_SECONDS:
        return None
    likely = unit or ("h" if int(number) <= MOST_HOURS else "m")
    return f"{count(int(number), 'second')}: did you mean `{number}{likely}`?"


def parse_period(text: str) -> float:
    """Read how far something reaches back, as in `7d`; a number needs a unit. Raises ValueError."""
    seconds, number = parse_time(text), text.strip()
    if seconds and number.isdigit():
        unit = "d" if seconds <= MOST_DAYS else "s"
        raise ValueError(f"`{number}` has no unit: did you mean `{number}{unit}`?")
    return seconds


def parse_rate(text: str) -> tuple[int, float]:
    """Read a number and its seconds, as of `100/1m`; raises ValueError for anything else."""
    number, _, time = text.partition("/")
    return int(number), parse_time(time)


def format_time(seconds: float) -> str:
    """Write seconds as `parse_time` reads them back, as in `1h30m`."""
    whole, part = int(seconds), seconds - int(seconds)
    days, rest = divmod(whole, 86400)
    hours, rest = divmod(rest, 3600)
    minutes, rest = divmod(rest, 60)
    text = "".join(
        f"{number}{unit}" for number, unit in ((days, "d"), (hours, "h"), (minutes, "m")) if number
    )
    if part:
        return str(seconds) if math.ulp(seconds) > 1e-9 else f"{seconds:.9f}".rstrip("0")
    return f"{text}{rest}s" if rest or not text else text


def parse_fraction(text: str) -> float:
    """Read `97%` or `0.97` as 0.97; raises ValueError outside of 0 to 1."""
    found = re.fullmatch(_FRACTION, text.strip())
    fraction = float(found[1]) / (100 if found[2] else 1) if found else -1.0
    if not 0 <= fraction <= 1:
        raise ValueError(f"`{text}` is not a fraction such as `97%` or `0.97`")
    return fraction


EARLIEST, LATEST = -62_000_000_000.0, 253_300_000_000.0
"""The first and last time that is shown; others are shown as these."""

LONGEST_S = 1e12
"""The longest time that is shown, some 30,000 years."""

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def percent(part: float) -> str:
    """Return a fraction as people read it, 0.97 as `97 %`."""
    return f"{100 * part:.4g} %"


def clean(text: str, *, lines: bool = False) -> str:
    """Make a text from outside harmless: control characters and escapes are shown, never sent.

    With `lines`, newlines and tabs are kept.
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


def listed(items: Iterable[str], last: str = "and") -> str:
    """Join words as in a sentence."""
    *front, back = list(items) or [""]
    return f"{', '.join(front)} {last} {back}" if front else back


def size(number: float | None) -> str:
    """Write bytes as people read them; a dash if unknown."""
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
    hours = whole % 86400 // 3600
    return f"{whole // 86400} d {hours} h" if hours else f"{whole // 86400} d"


def moment(at: float | None, now: float) -> str:
    """Write a time in the local time zone; with the day if it is another day."""
    if at is None or not isfinite(at):
        return "-"
    there, here = time.localtime(_in_range(at)), time.localtime(now)
    if there[:3] == here[:3]:
        return time.strftime("%H:%M:%S", there)
    return time.strftime("%d %b %H:%M" if there[0] == here[0] else "%d %b %Y %H:%M", there)


def iso(at: float | None) -> str | None:
    """Write a time as ISO 8601 in UTC; None if there is none."""
    if at is None or not isfinite(at):
        return None
    text = datetime.fromtimestamp(_in_range(at), UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def _in_range(at: float) -> float:
    """Limit a time to the range of a calendar, from the year 1 to 9998."""
    return min(max(EARLIEST, at), LATEST)


class Resource(NamedTuple):
    """What a package requests of a node; its name is that of the key, the option and the column."""

    name: str
    noun: str
    is_size: bool = False

    def describe(self, amount: int) -> str:
        """Return an amount of it in words."""
        return f"{size(amount)} of {self.noun}" if self.is_size else count(amount, self.noun)


RESOURCES = (
    Resource("cpus", "CPU"),
    Resource("memory", "memory", is_size=True),
    Resource("gpus", "GPU"),
    Resource("disk", "disk", is_size=True),
)

REQUESTS = tuple(resource.name for resource in RESOURCES)


def likeness(text: str | None) -> str:
    """Return a message without what differs between failures for the same cause: its numbers."""
    return re.sub(r"(?i)0x[0-9a-f]+|\d+", "0", text or "")
